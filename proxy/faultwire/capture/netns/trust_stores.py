"""Where runtimes look for roots without being told: the files and folders that ours are put in place of.

Each of them is replaced for the command alone, in its mount namespace. Sources of the places: Go
(`crypto/x509/root_linux.go`), openssl-probe (Rust), Debian's and RHEL's packages, OpenSSL's
`X509_LOOKUP_hash_dir`, the JDKs' `cacerts`, certifi, botocore and pip.
"""

from __future__ import annotations

import os
import re  # noqa: TID251 - the patterns below are fixed
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from faultwire.capture.bundle import SYSTEM_BUNDLES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from faultwire.capture.bundle import TrustFiles

BUNDLES = (
    *SYSTEM_BUNDLES,
    "/etc/pki/tls/certs/ca-bundle.crt",  # RHEL, Fedora
    "/etc/pki/tls/cacert.pem",  # OpenELEC
    "/etc/pki/tls/cert.pem",
    "/usr/local/share/certs/ca-root-nss.crt",
    "/usr/lib/ssl/cert.pem",  # OpenSSL's own default on Debian
    "/usr/share/ca-certificates/ca-bundle.crt",
)
FOLDERS = ("/etc/ssl/certs", "/etc/pki/tls/certs")
"""OpenSSL finds a certificate there by the hash of its subject's name."""
JAVA_STORES = (
    "/etc/ssl/certs/java/cacerts",  # Debian
    "/etc/pki/ca-trust/extracted/java/cacerts",  # RHEL
    "/etc/pki/java/cacerts",
)
JAVA_HOMES = ("/usr/lib/jvm/*", "/usr/java/*", "/opt/java/*", "/opt/*jdk*")
PYTHON_BUNDLES = ("certifi/cacert.pem", "pip/_vendor/certifi/cacert.pem", "botocore/cacert.pem")
OWN_STORE = re.compile(r"-Djavax\.net\.ssl\.trustStore=(?:\"([^\"]+)\"|'([^']+)'|(\S+))")
OWN_PASSWORD = re.compile(r"-Djavax\.net\.ssl\.trustStorePassword=(?:\"([^\"]+)\"|'([^']+)'|(\S+))")
LONGEST_SCRIPT = 256 * 1024
"""Bytes of a script that is read."""
JAVA_VARIABLES = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "JAVA_OPTS", "_JAVA_OPTIONS")


def bundles(command: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """The files of PEM certificates that are there: the system's, and those of the command's Python."""
    found = [path for path in BUNDLES if os.path.isfile(path)]
    found += _python_bundles(command, environment)
    return list(dict.fromkeys(map(os.path.realpath, found)))


def folders() -> list[str]:
    """The folders of certificates that are there."""
    return list(dict.fromkeys(os.path.realpath(path) for path in FOLDERS if os.path.isdir(path)))


def java_stores(command: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """The trust stores of all Javas that are found: in the usual places, by `JAVA_HOME`, by the command."""
    homes = [Path(environment["JAVA_HOME"])] if environment.get("JAVA_HOME") else []
    for program in {command[0], "java"} if command else ():
        path = shutil.which(program, path=environment.get("PATH"))
        if path is not None and os.path.basename(path) == "java":
            homes.append(Path(os.path.realpath(path)).parents[1])
    for pattern in JAVA_HOMES:
        homes += sorted(Path("/").glob(pattern.lstrip("/")))
    stores = [
        home / inner for home in homes for inner in ("lib/security/cacerts", "jre/lib/security/cacerts")
    ]
    found = [str(path) for path in (*stores, *map(Path, JAVA_STORES)) if path.is_file()]
    return list(dict.fromkeys(map(os.path.realpath, found)))


def own_java_stores(command: Sequence[str], environment: Mapping[str, str]) -> list[tuple[str, str | None]]:
    """Trust stores that the command names to its Java, each with the password that it gives: in its words, in
    scripts and files of arguments among them, or in a variable."""
    found: dict[str, str | None] = {}
    texts = [" ".join(map(_quoted, command)), *(environment.get(name, "") for name in JAVA_VARIABLES)]
    for text in (*texts, *_scripts(command, environment)):
        password = _matched(OWN_PASSWORD.search(text))
        for match in OWN_STORE.finditer(text):
            path = _matched(match)
            if path is not None and os.path.isfile(path):
                found.setdefault(os.path.realpath(path), password)
    return list(found.items())


def _scripts(command: Sequence[str], environment: Mapping[str, str]) -> Iterator[str]:
    """The contents of text files among the words of a command."""
    for at, word in enumerate(command):
        path = shutil.which(word, path=environment.get("PATH")) if at == 0 else word.removeprefix("@")
        if not path or not os.path.isfile(path) or os.path.getsize(path) > LONGEST_SCRIPT:
            continue
        try:
            data = Path(path).read_bytes()
        except OSError:
            continue
        if b"\0" not in data:
            yield data.decode("utf-8", "replace")


def _quoted(word: str) -> str:
    """An option with blanks in its value, as a shell would have it."""
    name, mark, value = word.partition("=")
    return f'{name}="{value}"' if mark and " " in value else word


def _matched(match: re.Match[str] | None) -> str | None:
    return next((group for group in match.groups() if group), None) if match else None


def _python_bundles(command: Sequence[str], environment: Mapping[str, str]) -> Iterator[str]:
    """Those of the interpreter that the command names, of its virtual environment, and of the system."""
    prefixes = [Path("/usr"), Path("/usr/local")]
    program = shutil.which(command[0], path=environment.get("PATH")) if command else None
    if program is not None:
        # Not resolved at first: the link itself lies in the virtual environment.
        prefixes += [Path(os.path.abspath(program)).parents[1], Path(os.path.realpath(program)).parents[1]]
        prefixes += _interpreter(Path(program))
    if environment.get("VIRTUAL_ENV"):
        prefixes.append(Path(environment["VIRTUAL_ENV"]))
    for prefix in dict.fromkeys(prefixes):
        sites = [*prefix.glob("lib/python3*/site-packages"), *prefix.glob("lib/python3*/dist-packages")]
        for site in (*sites, prefix / "lib/python3/dist-packages"):
            for inner in PYTHON_BUNDLES:
                if (site / inner).is_file():
                    yield str(site / inner)
    for folder in filter(None, environment.get("PYTHONPATH", "").split(os.pathsep)):
        for inner in PYTHON_BUNDLES:
            if (Path(folder) / inner).is_file():
                yield str(Path(folder) / inner)


def _interpreter(program: Path) -> list[Path]:
    """The environment of a script's interpreter, by its first line (`#!`)."""
    try:
        with program.open("rb") as file:
            head = file.read(256)
    except OSError:
        return []
    if not head.startswith(b"#!"):
        return []
    line = head.split(b"\n", 1)[0][2:].decode("utf-8", "replace")
    words = line.split()
    if not words or len(Path(words[0]).parents) < 2:
        return []
    return [Path(os.path.abspath(words[0])).parents[1], Path(os.path.realpath(words[0])).parents[1]]


def hashed_name(ca_pem: bytes, number: int) -> str:
    """The name by which OpenSSL looks for a certificate in a folder (`openssl rehash`)."""
    from OpenSSL import crypto

    certificate = crypto.load_certificate(crypto.FILETYPE_PEM, ca_pem)
    return f"{int(certificate.subject_name_hash()):08x}.{number}"


def folder_entries(folder: str, trust: TrustFiles) -> dict[str, str]:
    """What is put into a folder of certificates: our authority under its hash, and bundles that lie in it."""
    pem = trust.ca_cert.read_bytes()
    number = 0
    while os.path.lexists(os.path.join(folder, hashed_name(pem, number))):
        number += 1
    entries = {hashed_name(pem, number): str(trust.ca_cert)}
    for path in BUNDLES:
        if os.path.dirname(os.path.realpath(path)) == folder and os.path.isfile(path):
            entries[os.path.basename(os.path.realpath(path))] = str(trust.bundle)
    return entries
