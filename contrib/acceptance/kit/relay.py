"""The relay under test, with every line it prints and the time at which it came."""

import json
import os
import re
import subprocess
import threading
import time

from .processes import HERE, wait_until
from .report import Skip

PROJECT = HERE.parent.parent
PROXY_VARIABLES = ["http_proxy", "https_proxy", "all_proxy", "no_proxy"]


def program():
    """$RELAY, else the release build, which is made where it is missing."""
    if chosen := os.environ.get("RELAY"):
        return chosen
    built = PROJECT / ".build/release/chirp-relay"
    if not built.exists():
        command = ["nice", "swift", "build", "-c", "release", "--product", "chirp-relay", "--package-path", PROJECT]
        print("     building the relay", flush=True)
        if subprocess.run(command, stdout=subprocess.DEVNULL).returncode != 0:
            raise Skip("the relay does not build; set RELAY to a program")
    return str(built)


class Lines:
    """The lines of a pipe, each with the time at which it came."""

    def __init__(self, pipe):
        self.all = []
        self.raw = b""
        self.thread = threading.Thread(target=self._read, args=(pipe,), daemon=True)
        self.thread.start()

    def _read(self, pipe):
        for line in pipe:
            self.raw += line
            self.all.append((time.monotonic(), line.decode(errors="replace").rstrip("\n")))


class Relay:
    """One run of `chirp-relay run` with rules that are given as a dictionary."""

    def __init__(self, processes, rules, env=None, options=("--log-level", "debug"), name="relay"):
        self.processes = processes
        self.name = name
        self.rules = processes.folder / f"{name}.rules.json"
        self.rules.write_text(json.dumps(rules, indent=2))
        self.rules.chmod(0o600)
        state = [] if "--state" in options else ["--no-state"]
        self.process = processes.spawn(
            name, [program(), "run", "--rules", self.rules, *state, *options],
            env={variable: "" for variable in PROXY_VARIABLES + [v.upper() for v in PROXY_VARIABLES]} | (env or {}),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=processes.folder,
        )
        self.out = Lines(self.process.stdout)
        self.err = Lines(self.process.stderr)

    def events(self, since=0):
        """The JSON lines so far, without the first ones."""
        return [json.loads(line) for _, line in self.out.all[since:]]

    def wait_events(self, count, seconds=10, since=0):
        """Waits for so many lines, and returns what there is then."""
        wait_until(lambda: len(self.out.all) - since >= count, seconds)
        return self.events(since)

    def logs(self, pattern, after=0.0):
        """The log lines that match a regular expression, with their times."""
        return [(when, line) for when, line in list(self.err.all) if when >= after and re.search(pattern, line)]

    def wait_log(self, pattern, seconds=10, after=0.0):
        """Waits for a log line; returns its time and text, or None."""
        found = wait_until(lambda: self.logs(pattern, after), seconds)
        return found[0] if found else None

    def is_alive(self):
        return self.process.poll() is None

    def stop(self):
        """Ends the relay with SIGTERM, and returns its exit status when all output has been read."""
        status = self.processes.stop(self.process)
        self.out.thread.join(5)
        self.err.thread.join(5)
        (self.processes.folder / f"{self.name}.stderr").write_bytes(self.err.raw)
        return status
