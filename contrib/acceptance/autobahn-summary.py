#!/usr/bin/env python3
"""Sums up the reports of Autobahn|Testsuite by group of cases; the exit status is 1 if a case failed or was not run."""

import argparse
import json
import platform
import subprocess
import sys
from pathlib import Path

GROUPS = {
    "1": "framing",
    "2": "pings and pongs",
    "3": "reserved bits",
    "4": "opcodes",
    "5": "fragmentation",
    "6": "UTF-8",
    "7": "close handshake",
    "9": "large messages",
    "10": "automatic fragmentation",
}
# A non-strict case is right, but later than it could be; an informational one has no right and wrong.
COLUMNS = ("OK", "NON-STRICT", "INFORMATIONAL")
CLOSED_WELL = ("OK", "INFORMATIONAL")


def judge(result):
    """Returns the verdict on one case; a wrong end of the connection counts as a failure too."""
    if result is None:
        return "NOT RUN"
    if result["behavior"] in COLUMNS and result["behaviorClose"] not in CLOSED_WELL:
        return f"FAILED (close: {result['behaviorClose']})"
    return result["behavior"]


def table(verdicts):
    """Returns the Markdown table of counts by group."""
    lines = [
        "| group | cases | OK | non-strict | informational | failed |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    groups = list(dict.fromkeys(case.split(".")[0] for case in verdicts))
    for group in groups + ["all"]:
        members = [v for case, v in verdicts.items() if group in ("all", case.split(".")[0])]
        counts = [members.count(column) for column in COLUMNS]
        name = "**all**" if group == "all" else f"{group}.* {GROUPS.get(group, '')}".strip()
        cells = [name, len(members), *counts, len(members) - sum(counts)]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def exceptions(verdicts):
    """Returns a list of the cases that are not simply OK."""
    lines = [f"- {case}: {verdict.lower()}" for case, verdict in verdicts.items() if verdict != "OK"]
    return "\n".join(lines) if lines else "None."


def versions(state):
    """Returns what the run was made with, a line each."""
    packages = subprocess.run(
        [state / "venv/bin/pip", "freeze", "--no-python-version-warning"], capture_output=True, text=True, check=True
    ).stdout.split()
    suite = [p for p in packages if p.split("==")[0] in ("autobahntestsuite", "autobahn", "Twisted")]
    swift = subprocess.run(["swift", "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    system = platform.freedesktop_os_release()["PRETTY_NAME"]
    return "\n".join(f"- {line}" for line in (", ".join(suite), swift, f"{system}, {platform.machine()}"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("state", type=Path, help="the directory with `cases` and `reports`")
    parser.add_argument("agent", help="the name under which the client ran")
    parser.add_argument("--markdown", type=Path, help="also write the result to this file")
    options = parser.parse_args()

    cases = [line.split()[1] for line in (options.state / "cases").read_text().splitlines()]
    index = options.state / "reports/index.json"
    results = json.loads(index.read_text()).get(options.agent, {}) if index.exists() else {}
    verdicts = {case: judge(results.get(case)) for case in cases}
    result = f"{table(verdicts)}\n\nCases that are not simply OK:\n\n{exceptions(verdicts)}"
    print(result)
    if options.markdown:
        options.markdown.write_text(
            "# Autobahn|Testsuite against the WebSocket codec\n\n"
            "Written by `contrib/acceptance/autobahn.sh`; the codec is in the client's role, built with `-c release`, and\n"
            "echoes through `contrib/acceptance/websocket-echo`. Groups 12 and 13 are about compression, which is not\n"
            "offered; 8 and 11 do not exist.\n\n"
            f"{result}\n\nMade with:\n\n{versions(options.state)}\n"
        )
    sys.exit(any(verdict not in COLUMNS for verdict in verdicts.values()))


if __name__ == "__main__":
    main()
