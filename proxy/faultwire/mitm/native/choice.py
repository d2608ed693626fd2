"""Which path a tunnel takes, decided once for each, here and nowhere else: the native one, where it does all
that the tunnel may ask of it, or mitmproxy's own layers. Both are counted, the latter by reason."""

from __future__ import annotations

import logging
import re
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509 import load_pem_x509_certificate
from mitmproxy import ctx

from faultwire import _core
from faultwire.mitm.compat import FastHandler, transports
from faultwire.mitm.compat.http1 import PREFACE
from faultwire.mitm.compat.leaves import KEPT, LeafCertificates
from faultwire.mitm.native import lean, self_test
from faultwire.mitm.native.layer import NativeLayer
from faultwire.mitm.native.ways import WAYS

if TYPE_CHECKING:
    from mitmproxy.proxy.context import Context

    from faultwire.mitm.flow.gateway import Gateway
    from faultwire.mitm.network.client_certificates import ClientCertificates
    from faultwire.mitm.settings import EngineSettings

logger = logging.getLogger(__name__)

HELLO_LIMIT = 64 * 1024
"""Bytes of a ClientHello that are waited for; a longer one is mitmproxy's."""

TLS_RECORD = b"\x16"

METHOD_LIMIT = 32
"""Bytes in which a client of the proxy has to show that it asks for an `http` URL."""

_ABSOLUTE = re.compile(rb"[A-Z]{1,16} http://")
_PATH = re.compile(rb"[A-Z]{1,16} /")
_PERHAPS = re.compile(rb"[A-Z]{0,16}|[A-Z]{1,16} (?:h|ht|htt|http|http:|http:/)?")

Hello = tuple[str | None, list[bytes], bool]
Waits = Literal["waits"]
"""The ClientHello is not whole yet."""


def native_path(
    settings: EngineSettings, gateway: Gateway, bundle: str, clients: ClientCertificates | None = None
) -> NativePath | None:
    """The native path of an engine, where its settings want it; `bundle` is a file of authorities."""
    return NativePath(gateway, Path(bundle), clients, http2=settings.http2) if settings.native else None


class NativePath:
    """The native path of one engine. `bundle` are the authorities that servers' certificates chain to; to
    those that are shown one of `clients` only OpenSSL speaks. `http2`: clients that offer it get HTTP/2."""

    def __init__(
        self,
        gateway: Gateway,
        bundle: Path,
        clients: ClientCertificates | None = None,
        *,
        http2: bool = False,
    ) -> None:
        self.gateway = gateway
        self._http2 = http2
        self._clients = clients
        self._bundle = bundle
        self._shown: dict[str, Any] = {}
        self.way = "streams"
        """One of `ways.WAYS`; known after `prepare`."""

    async def prepare(self, *, fast: bool = True) -> None:
        """Find out how connections are served, and say so where it is not the quickest way. `fast`: does our
        event handler work?"""
        if not fast:
            self.way = "handler"
        elif not self_test.passes():
            self.way = "mitmproxy"
        else:
            self.way = "transports" if await lean.works() else "streams"
        self.gateway.stats.native_path = self.way
        if WAYS[self.way]:
            logger.warning(WAYS[self.way])

    @property
    def lean(self) -> bool:
        """Are sockets read without a task?"""
        return self.way == "transports"

    @cached_property
    def terms(self) -> _core.Terms:
        """Certificates and trust of all tunnels."""
        return _core.Terms(self._bundle.read_bytes())

    def choose(self, context: Context, data: bytes) -> NativeLayer | Waits | None:
        """The native layer for a client that begins in its tunnel with these bytes; None for mitmproxy's."""
        name, why = None, self._unfit(context)
        tls = data[:1] == TLS_RECORD
        if data.startswith(PREFACE[:6]):
            why = "h2c"
        if why is None and tls:
            try:
                hello = _core.client_hello(data)
            except ValueError:
                hello, why = None, "hello"
            else:
                if hello is None and len(data) < HELLO_LIMIT:
                    return "waits"
                why = "hello" if hello is None else self._distrusts(context, hello)
            name = hello[0] if hello is not None else None
        if why is not None:
            self.gateway.stats.native_declined[why] += 1
            return None
        self.gateway.stats.native += 1
        self.gateway.stats.native_streams += not self.lean
        if tls:
            self.gateway.handshakes.identify(self.gateway.connection(context.client), context.client, data)
        tunnel = self._tunnel(context, name, tls=tls)
        return NativeLayer(context, self.gateway, tunnel, tls=tls, lean=self.lean)

    def choose_plain(self, context: Context, data: bytes) -> NativeLayer | Waits | None:
        """The same for a client of the proxy itself, that asks for `http` URLs, or in base-URL mode."""
        by_path = bool(self.gateway.reverse) and _PATH.match(data) is not None
        if not by_path and _ABSOLUTE.match(data) is None:
            return "waits" if _PERHAPS.fullmatch(data) and len(data) < METHOD_LIMIT else None
        why = self._unfit_client(context)
        if why is None and self._clients is not None:
            why = "client_certificate"
        if why is not None:
            self.gateway.stats.native_declined[why] += 1
            return None
        self.gateway.stats.native_plain += not by_path
        self.gateway.stats.native_base_url += by_path
        self.gateway.stats.native_streams += not self.lean
        tunnel = _core.Tunnel(self.terms, None)
        return NativeLayer(context, self.gateway, tunnel, tls=False, lean=self.lean)

    def _distrusts(self, context: Context, hello: Hello) -> str | None:
        """Why a client's TLS is mitmproxy's; if it is not, what is known of the client from it."""
        name, offers, fits = hello
        client, address = context.client, context.server.address
        if not fits:
            return "tls"
        if self._http2 and b"h2" in offers:
            return "http2"
        if self.gateway.handshakes.is_suspect(name or (address[0] if address else "")):
            return "distrust"  # such clients are looked at before they are answered
        client.sni, client.alpn_offers = name, offers
        client.alpn = b"http/1.1" if offers else None
        return None

    def _unfit(self, context: Context) -> str | None:
        """What the tunnel may ask of mitmproxy that only mitmproxy does; None for nothing."""
        gateway, client = self.gateway, context.client
        why = self._unfit_client(context)
        if why is not None:
            return why
        if context.server.address is None:
            return "nested"
        if self._clients is not None and self._clients.find(context.server.address[0]) is not None:
            return "client_certificate"
        tunnel = gateway.tunnels.of(client)
        if tunnel is not None and tunnel.flaw is not None:
            return "flaw"
        if not isinstance(ctx.master.addons.get("tlsconfig"), LeafCertificates):
            return "certificates"
        return None

    def _unfit_client(self, context: Context) -> str | None:
        """The same of any connection of this client."""
        gateway, client = self.gateway, context.client
        if self.way in ("mitmproxy", "handler"):
            return "self_test"
        if type(transports.handler_of(client)) is not FastHandler:
            return "handler"
        if gateway.replays is not None:
            return "replay"
        if gateway.stock_hooks:
            return "hooks"
        return "nested" if client.tls else None

    def _tunnel(self, context: Context, name: str | None, *, tls: bool) -> _core.Tunnel:
        """A tunnel that shows the certificate which any client of this name is shown."""
        if not tls:
            return _core.Tunnel(self.terms, None)
        leaves: Any = ctx.master.addons.get("tlsconfig")
        entry = leaves.get_cert(context)
        name = name or str(context.server.address[0] if context.server.address else "")
        if self._shown.get(name) is not entry:
            while len(self._shown) >= KEPT:
                oldest = next(iter(self._shown))
                del self._shown[oldest]
                self.terms.drop_leaf(oldest)
            key = entry.privatekey.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
            shown = (entry.cert, *entry.chain_certs)
            chain = [load_pem_x509_certificate(one.to_pem()).public_bytes(Encoding.DER) for one in shown]
            self.terms.add_leaf(name, chain, key)
            self._shown[name] = entry
        context.client.mitmcert = entry.cert
        return _core.Tunnel(self.terms, name)
