"""A certificate of an authority that nobody knows, made with the ``openssl`` program."""

from __future__ import annotations

import os
import shutil
import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Certificate:
    """Signed by itself, for 127.0.0.1 and ``outside.example``."""

    file: Path
    key: Path

    def server_side(self) -> ssl.SSLContext:
        """For a server that shows it."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.file, self.key)
        return context


def make_certificate(folder: Path) -> Certificate:
    """A fresh one in ``folder``; skips the test where there is no ``openssl``."""
    if shutil.which("openssl") is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("needs the openssl program")
    made = Certificate(folder / "certificate.pem", folder / "key.pem")
    kind = ("-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
    names = ("-subj", "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1,DNS:outside.example")
    files = ("-out", made.file, "-keyout", made.key)
    subprocess.run(["openssl", "req", *kind, *names, *files], check=True, capture_output=True)
    return made
