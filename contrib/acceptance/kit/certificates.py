"""A throw-away certificate authority and server certificates, made with the program openssl."""

import datetime
import subprocess

from .report import Skip

LOCAL = "DNS:localhost,IP:127.0.0.1"

AUTHORITY = """[ca]
default_ca = authority

[authority]
database = {folder}/index
serial = {folder}/serial
new_certs_dir = {folder}
default_md = sha256
policy = policy
unique_subject = no
x509_extensions = extensions

[policy]
commonName = supplied

[extensions]
subjectAltName = {names}
"""


class Certificates:
    """`ca.pem` is to be trusted; `pair(NAME)` gives the files for a server: good, wronghost, expired, selfsigned."""

    def __init__(self, folder):
        self.folder = folder / "certificates"
        self.folder.mkdir()
        self.authority = self.folder / "ca.crt"
        (self.folder / "serial").write_text("1000")
        self._self_signed("ca", "keyUsage=critical,keyCertSign,cRLSign", "acceptance authority")
        self._signed("good", LOCAL, -1, 30)
        self._signed("wronghost", "DNS:other.example.test", -1, 30)
        self._signed("expired", LOCAL, -30, -1)
        self._self_signed("selfsigned", f"subjectAltName={LOCAL}", "localhost")

    def pair(self, name):
        return str(self.folder / f"{name}.crt"), str(self.folder / f"{name}.key")

    def _openssl(self, *words):
        done = subprocess.run(["openssl", *map(str, words)], capture_output=True, text=True)
        if done.returncode != 0:
            raise Skip(f"openssl {words[0]} failed: {done.stderr.strip().splitlines()[-1:]}")

    def _self_signed(self, name, extension, subject):
        certificate, key = self.pair(name)
        files = ["-keyout", key, "-out", certificate]
        self._openssl(
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", 30, *files, "-subj", f"/CN={subject}",
            "-addext", extension,
        )

    def _signed(self, name, names, first, last):
        """Valid from day `first` to day `last`, counted from today: `openssl x509` cannot date one in the past."""
        certificate, key = self.pair(name)
        request = self.folder / "request"
        (self.folder / "ca.cnf").write_text(AUTHORITY.format(folder=self.folder, names=names))
        (self.folder / "index").write_text("")
        self._openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", request, "-subj", f"/CN={name}")
        self._openssl(
            "ca", "-batch", "-notext", "-config", self.folder / "ca.cnf", "-cert", self.authority,
            "-keyfile", self.folder / "ca.key", "-in", request, "-out", certificate,
            "-startdate", day(first), "-enddate", day(last),
        )


def day(number):
    """So many days from today, as openssl wants it."""
    return (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=number)).strftime("%Y%m%d%H%M%SZ")
