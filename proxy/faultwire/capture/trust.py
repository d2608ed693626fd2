"""What a client needs to trust the proxy's certificates, by its runtime. Said where one did not.

`env.child_environment` sets all of these variables, so that a client which refuses the certificate has lost
them or brings roots of its own.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from faultwire.capture.runtime import has_compiled_roots, recognise

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from faultwire.capture.runtime import Runtime
    from faultwire.events import FailedHandshake

PINNED = "a client that pins its server's certificate cannot be captured"
NEEDS: Mapping[Runtime, str] = {
    "python": "Python must trust the file in `SSL_CERT_FILE` and `REQUESTS_CA_BUNDLE`: a client with its own "
    "`verify` or SSL context, such as one with certifi's roots, ignores it",
    "node": "Node must trust the file in `NODE_EXTRA_CA_CERTS`, which it reads at its start: a client with "
    "its own `ca` option ignores it",
    "java": "Java must use the trust store that `JAVA_TOOL_OPTIONS` names: a client with its own "
    "`SSLContext` ignores it",
    "go": "Go must trust the file in `SSL_CERT_FILE`: a `tls.Config` with its own `RootCAs` ignores it",
    "curl": "curl must trust the file in `CURL_CA_BUNDLE`: `--cacert` and a `~/.curlrc` overrule it",
    "php": "PHP must trust the file that `curl.cainfo` and `openssl.cafile` name: a client with its own "
    "`CURLOPT_CAINFO`, `cafile` or `verify` ignores it",
    "perl": "Perl must trust the file in `PERL_LWP_SSL_CA_FILE`, `MOJO_CA_FILE` and `SSL_CERT_FILE`: a "
    "client with its own `SSL_ca_file` ignores it",
    "deno": "Deno must trust the file in `DENO_CERT`",
    "bun": "Bun must trust the file in `NODE_EXTRA_CA_CERTS`",
}
OTHER = "it must trust the file in `SSL_CERT_FILE`: roots that are compiled in, or of its own, do not have it"
COMPILED = (
    "roots are compiled into it (Rust's `webpki-roots`, say): build it with native roots "
    "(`rustls-tls-native-roots`), or add the authority that `faultwire ca show` names"
)
"""Of a program in which they were found."""


def needed(one: FailedHandshake, command: Sequence[str] = ()) -> str:
    """What the client of these handshakes needs; where its program is not known, that of the command."""
    runtime = recognise([one.program]) if one.program else recognise(command)
    program = one.program or (shutil.which(command[0]) if command else None)
    if runtime == "unknown" and program and has_compiled_roots(Path(program)):
        return f"{COMPILED}; {PINNED}"
    return f"{NEEDS.get(runtime, OTHER)}; {PINNED}"


def explained(texts: Sequence[str], failed: Sequence[FailedHandshake]) -> tuple[str, ...]:
    """Texts in which each that is about a handshake is followed by what its client needs."""
    needs = {one.text: needed(one) for one in failed}
    return tuple(f"{text}: {needs[text]}" if text in needs else text for text in texts)
