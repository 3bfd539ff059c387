"""Fixtures that several test modules share."""

from __future__ import annotations

import shutil
import ssl
import subprocess

import pytest


@pytest.fixture(scope="session")
def server_tls(tmp_path_factory: pytest.TempPathFactory) -> ssl.SSLContext:
    """The server's side of TLS: a certificate for 127.0.0.1 that nobody has reason to trust."""
    if not shutil.which("openssl"):
        pytest.skip("openssl, which makes the certificate, is not there")
    folder = tmp_path_factory.mktemp("tls")
    command = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
        " -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out cert.pem"
    )
    subprocess.run(command.split(), cwd=folder, capture_output=True, check=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context
