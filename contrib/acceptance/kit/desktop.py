"""A private session bus, a display without a screen, and the notification daemon dunst on both."""

import os
import signal
import subprocess

from .processes import wait_until

NAME = "org.freedesktop.Notifications"

# The bus has no service folder on purpose: it starts no other daemon that happens to be installed.
BUS = """<busconfig>
  <type>session</type>
  <listen>unix:path={socket}</listen>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"""

DUNST = """[global]
  width = 460
  height = 200
  origin = top-right
  offset = 10x10
  markup = full
  format = "<b>%s</b>\\n%b"
  font = DejaVu Sans 11
  show_age_threshold = -1
  notification_limit = 20
  idle_threshold = 0
[urgency_low]
  background = "#222222"
  foreground = "#888888"
  timeout = 0
[urgency_normal]
  background = "#285577"
  foreground = "#ffffff"
  timeout = 0
[urgency_critical]
  background = "#900000"
  foreground = "#ffffff"
  timeout = 0
"""


class Desktop:
    """The session. The daemon is started by `start_daemon`, so that there can be a time without one."""

    def __init__(self, processes):
        self.processes = processes
        self.folder = processes.folder
        self.daemon = None
        self.daemons = 0
        for part in ["home", "runtime"]:
            (self.folder / part).mkdir(mode=0o700)
        self.environment = {
            "DISPLAY": self._start_display(), "WAYLAND_DISPLAY": "", "HOME": str(self.folder / "home"),
            "XDG_RUNTIME_DIR": str(self.folder / "runtime"), "DBUS_SESSION_BUS_ADDRESS": self._start_bus(),
            "GSETTINGS_BACKEND": "memory", "NO_AT_BRIDGE": "1",
        }
        (self.folder / "dunstrc").write_text(DUNST)

    def _start_display(self):
        reading, writing = os.pipe()
        command = ["Xvfb", "-displayfd", writing, "-screen", "0", "1024x600x24", "-noreset", "-nolisten", "tcp"]
        self.processes.spawn("xvfb", command, pass_fds=[writing])
        os.close(writing)
        with os.fdopen(reading) as number:
            return f":{number.readline().strip()}"

    def _start_bus(self):
        socket = self.folder / "bus"
        (self.folder / "bus.conf").write_text(BUS.format(socket=socket))
        self.processes.spawn("dbus", ["dbus-daemon", f"--config-file={self.folder}/bus.conf", "--nofork", "--nopidfile"])
        if not wait_until(socket.exists, 10):
            raise RuntimeError("the session bus did not start")
        return f"unix:path={socket}"

    def run(self, *command):
        """Runs a command in the session and returns its output; a failure gives an empty text."""
        done = subprocess.run(
            [str(word) for word in command], env=os.environ | self.environment, capture_output=True, text=True, timeout=20
        )
        return done.stdout.strip() if done.returncode == 0 else ""

    def start_daemon(self):
        """Starts dunst, which also prints what it is sent into a log of its own, and waits until it owns the name."""
        self.daemons += 1
        name = f"dunst-{self.daemons}"
        self.log = self.folder / f"{name}.log"
        command = ["dunst", "-conf", self.folder / "dunstrc", "-print"]
        self.daemon = self.processes.spawn(name, command, env=self.environment)
        if not wait_until(self.has_daemon, 10):
            raise RuntimeError(f"dunst did not take the name; see {self.log}")

    def has_daemon(self):
        question = ["--dest=org.freedesktop.DBus", "--print-reply=literal", "/", "org.freedesktop.DBus.NameHasOwner"]
        return "true" in self.run("dbus-send", "--session", *question, f"string:{NAME}")

    def hang(self):
        self.daemon.send_signal(signal.SIGSTOP)

    def kill_daemon(self):
        self.daemon.kill()
        self.daemon.wait()
        wait_until(lambda: not self.has_daemon(), 5)

    def shown(self):
        """How many popups are on the screen."""
        return int(self.run("dunstctl", "count", "displayed") or 0)

    def screenshot(self, name):
        """Saves the screen as run/SCRIPT/NAME.png."""
        file = self.folder / f"{name}.png"
        self.run("import", "-window", "root", file)
        return file
