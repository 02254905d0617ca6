"""Makes a Python environment from a list of pinned packages, once."""

import subprocess
import sys
from pathlib import Path

from .processes import HERE, RUN
from .report import Skip


def environment(name):
    """The `bin` folder of run/venv-NAME, which is made from NAME-requirements.txt where it is missing."""
    folder = RUN / f"venv-{name}"
    complete = folder / "complete"
    if not complete.exists():
        if sys.version_info < (3, 11):
            raise Skip("python3 must be 3.11 or newer")
        print(f"     installing {name} from PyPI into {folder.relative_to(HERE)}", flush=True)
        _run("the Python module venv (Debian: python3-venv)", sys.executable, "-m", "venv", "--clear", folder)
        pip = [folder / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"]
        _run(f"{name} from PyPI", *pip, HERE / f"{name}-requirements.txt")
        complete.touch()
    return Path(folder / "bin")


def _run(what, *command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise Skip(f"cannot install {what}: {' '.join(last)}")
