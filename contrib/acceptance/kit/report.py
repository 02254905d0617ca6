"""Prints what is checked and how it went; the exit status tells the rest.

0: every check passed.  1: a check failed.  2: something went wrong before.  3: skipped, with the reason.
"""

import shutil
import sys
import traceback


class Skip(Exception):
    """The machine lacks something, so that nothing can be said about the relay."""


class Report:
    """The checks of one script."""

    def __init__(self):
        self.failures = 0

    def section(self, text):
        """Says what the next checks are about."""
        print(f"-- {text}", flush=True)

    def note(self, text):
        """Tells a figure or a fact that is not judged."""
        print(f"     {text}", flush=True)

    def check(self, what, is_so, seen=""):
        """Prints PASS or FAIL; what was seen is shown with both."""
        if not is_so:
            self.failures += 1
        print(f"{'PASS' if is_so else 'FAIL'} {what}" + (f"  [{seen}]" if seen != "" else ""), flush=True)
        return bool(is_so)


def need(*programs):
    """Skips the script unless all programs are there."""
    missing = [program for program in programs if not shutil.which(program)]
    if missing:
        raise Skip(f"not installed: {', '.join(missing)}; see the README beside this script for the packages")


def main(run):
    """Runs a script's function with a report, and exits as described above."""
    report = Report()
    try:
        run(report)
    except Skip as reason:
        print(f"SKIP {reason}")
        sys.exit(3)
    except KeyboardInterrupt:
        sys.exit(2)
    except Exception:
        traceback.print_exc()
        print("FAIL the script itself did not get through")
        sys.exit(2)
    print(f"== {report.failures} failed" if report.failures else "== all passed")
    sys.exit(1 if report.failures else 0)
