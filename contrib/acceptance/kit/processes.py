"""Starts programs, records their pids under run/, and ends exactly those."""

import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
RUN = HERE / "run"


def wait_until(condition, seconds, pause=0.02):
    """Asks until the condition holds, and returns what it said last."""
    deadline = time.monotonic() + seconds
    while not (value := condition()) and time.monotonic() < deadline:
        time.sleep(pause)
    return value


def free_port():
    """A port of 127.0.0.1 on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def is_listening(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
        return True
    except OSError:
        return False


def start_time(pid):
    """When a living process started, in ticks since boot: with the pid it names one process for ever."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else fields[19]


class Processes:
    """The processes of one script, in run/SCRIPT; all are ended when the `with` block ends, the last one first."""

    def __init__(self, script):
        self.folder = RUN / script
        self.started = []

    def __enter__(self):
        self._end_leftovers()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        return self

    def __exit__(self, *_):
        for name, process in reversed(self.started):
            self.stop(process)
            (self.folder / f"{name}.pid").unlink(missing_ok=True)

    def _end_leftovers(self):
        """Ends what a former run left behind when it was killed itself."""
        for file in self.folder.glob("*.pid"):
            pid, _, started = file.read_text().partition(" ")
            if started and start_time(int(pid)) == started:
                os.kill(int(pid), signal.SIGKILL)

    def spawn(self, name, command, env=None, **options):
        """Starts a program; its output goes to run/SCRIPT/NAME.log unless the options say otherwise."""
        log = open(self.folder / f"{name}.log", "ab")
        options = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log} | options
        process = subprocess.Popen(
            [str(word) for word in command], env=os.environ | (env or {}), start_new_session=True, **options
        )
        log.close()
        (self.folder / f"{name}.pid").write_text(f"{process.pid} {start_time(process.pid)}")
        self.started.append((name, process))
        return process

    def stop(self, process):
        """Ends a process, which may be stopped, and waits for its end."""
        if process.poll() is None:
            process.terminate()
            process.send_signal(signal.SIGCONT)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
        return process.wait()
