# SPDX-License-Identifier: MIT
"""Creates certificates for tests with openssl in the current folder: NAME.crt and NAME.key."""
import shutil
import subprocess

OPENSSL = shutil.which("openssl")
KINDS = {"rsa": ["-newkey", "rsa:2048"], "ec": ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]}


def make_certificate(name, issuer=None, purpose=None, kind="rsa"):
    """Creates a certificate for 127.0.0.1, signed by `issuer` or self-signed. It can issue others. That requires a key
    usage extension: clients that verify strictly, such as Python since 3.13, reject the chain without it."""
    more = ["-addext", "keyUsage=critical,digitalSignature,keyEncipherment,keyCertSign"]
    more += ["-CA", issuer + ".crt", "-CAkey", issuer + ".key"] if issuer else []
    more += ["-addext", "extendedKeyUsage=" + purpose] if purpose else []
    subprocess.run([OPENSSL, "req", "-x509", *KINDS[kind], "-nodes", "-days", "2", "-keyout", name + ".key", "-out", name + ".crt", "-subj",
                    "/CN=" + name, "-addext", "subjectAltName=IP:127.0.0.1", *more], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


def copy_certificate(name, to):
    for ending in (".crt", ".key"):
        shutil.copy(name + ending, to + ending)
