"""Coming in by an OpenID provider: the code flow with PKCE (RFC 7636), and ID tokens held against its keys.

OpenID Connect Core 1.0, sections 3.1.2 and 3.1.3.7: `state` ties the answer to the browser that asked,
`nonce` the token to this attempt. Both are used up by the first answer. An ID token that a program shows
instead (of a pipeline, say) is taken once, too.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from collections import OrderedDict
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import httpx
import jwt

from faultwire import clock
from faultwire.dice import token
from faultwire.errors import printable
from faultwire.service.guard import NotLetIn
from faultwire.service.roles import Caller

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from faultwire.service.settings import Provider
    from faultwire.store.tokens import Role

ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
"""Signatures by a key pair; never `none`, and no HMAC, whose key would be a public one."""
LEEWAY_S = 60
LONGEST_S = 24 * 3600
"""A token that says it is valid for longer is refused."""
WAITING = 1_000
"""Attempts that may be under way, and tokens that are remembered as used."""
ATTEMPT_S = 600.0
TIMEOUT_S = 10.0
LARGEST = 1 << 20


@dataclass(frozen=True, slots=True)
class _Attempt:
    nonce: str
    verifier: str
    until_s: float


@dataclass(slots=True)
class Oidc:
    """One provider. `secret` is this client's, where it has one; `fetch` makes the requests."""

    provider: Provider
    secret: str | None = None
    fetch: Callable[..., httpx.Response] = httpx.request
    _found: dict[str, Any] = field(default_factory=dict)
    _keys: dict[str, Any] = field(default_factory=dict)
    _attempts: OrderedDict[str, _Attempt] = field(default_factory=OrderedDict)
    _used: OrderedDict[str, float] = field(default_factory=OrderedDict)

    # ------------------------------------------------------------ the code flow

    def begin(self, callback: str) -> tuple[str, str]:
        """Where to send a browser, and the `state` that it must come back with. Raises NotLetIn."""
        state, attempt = token(32), _Attempt(token(32), token(32), clock.monotonic() + ATTEMPT_S)
        _kept(self._attempts, state, attempt)
        challenge = urlsafe_b64encode(sha256(attempt.verifier.encode()).digest()).rstrip(b"=").decode()
        query = {
            "response_type": "code", "client_id": self.provider.client_id, "redirect_uri": callback,
            "scope": " ".join(self.provider.scopes), "state": state, "nonce": attempt.nonce,
            "code_challenge": challenge, "code_challenge_method": "S256",
        }  # fmt: skip
        place = str(self._about()["authorization_endpoint"])
        return f"{place}{'&' if '?' in place else '?'}{urlencode(query)}", state

    def finish(self, state: str, sent: str, code: str, callback: str) -> Caller:
        """Who came back: `state` is of the address, `sent` of the browser's cookie. Raises NotLetIn."""
        attempt = self._attempts.pop(state, None)
        if attempt is None or state != sent or attempt.until_s <= clock.monotonic():
            raise NotLetIn(
                "this answer belongs to no attempt of this browser that is under way", "oidc.state"
            )
        form = {
            "grant_type": "authorization_code", "code": code, "redirect_uri": callback,
            "client_id": self.provider.client_id, "code_verifier": attempt.verifier,
        }  # fmt: skip
        if self.secret is not None:
            form["client_secret"] = self.secret
        answer = self._asked("POST", str(self._about()["token_endpoint"]), data=form)
        return self.caller(str(answer.get("id_token", "")), attempt.nonce)

    # ------------------------------------------------------------ ID tokens

    def caller(self, id_token: str, nonce: str | None = None) -> Caller:
        """Whom an ID token names; each is taken once. Raises NotLetIn."""
        claims = self._claims(id_token)
        if nonce is not None and claims.get("nonce") != nonce:
            raise NotLetIn("the ID token was made for another attempt", "oidc.nonce")
        digest = sha256(id_token.encode()).hexdigest()
        if digest in self._used:
            raise NotLetIn("the ID token was used before", "oidc.replayed")
        _kept(self._used, digest, float(claims["exp"]))
        name = claims.get(self.provider.name_claim) or claims["sub"]
        return Caller(f"oidc:{printable(str(name))[:100]}", roles(self.provider, claims))

    def _claims(self, id_token: str) -> dict[str, Any]:
        try:
            header = jwt.get_unverified_header(id_token)
            found: dict[str, Any] = jwt.decode(
                id_token,
                self._key(str(header.get("kid", ""))),
                algorithms=ALGORITHMS,
                audience=self.provider.client_id,
                issuer=self.provider.issuer,
                leeway=LEEWAY_S,
                options={"require": ["exp", "iat", "sub", "aud", "iss"]},
            )
        except jwt.PyJWTError as error:
            raise NotLetIn(
                f"the ID token is not taken: {printable(str(error))[:200]}", "oidc.token"
            ) from None
        if (
            isinstance(found["aud"], list)
            and len(found["aud"]) > 1
            and found.get("azp") != self.provider.client_id
        ):
            raise NotLetIn("the ID token was made for another client", "oidc.token")
        if found["exp"] - found["iat"] > LONGEST_S:
            raise NotLetIn("the ID token is valid for more than a day", "oidc.token")
        return found

    def _key(self, kid: str) -> Any:
        if kid not in self._keys:
            # Providers change their keys: what is not known is asked for once more.
            listed = self._asked("GET", str(self._about()["jwks_uri"]))
            try:
                found = jwt.PyJWKSet.from_dict(listed).keys
            except jwt.PyJWTError as error:
                raise NotLetIn(f"the provider's keys cannot be used: {error}", "oidc.provider") from None
            self._keys = {
                str(one.key_id or ""): one.key for one in found if one.public_key_use in (None, "sig")
            }
        if kid not in self._keys:
            raise NotLetIn("the ID token is signed by a key that its provider does not name", "oidc.token")
        return self._keys[kid]

    # ------------------------------------------------------------ the provider

    def _about(self) -> Mapping[str, Any]:
        if not self._found:
            issuer = self.provider.issuer
            found = self._asked("GET", f"{issuer.rstrip('/')}/.well-known/openid-configuration")
            if found.get("issuer") != issuer:
                raise NotLetIn("the provider calls itself by another name than `issuer`", "oidc.provider")
            self._found = found
        return self._found

    def _asked(self, method: str, url: str, **more: Any) -> dict[str, Any]:
        try:
            answer = self.fetch(method, url, timeout=TIMEOUT_S, follow_redirects=False, **more)
            if answer.status_code != 200 or len(answer.content) > LARGEST:
                raise ValueError(f"status {answer.status_code}")
            found = json.loads(answer.content)
            if not isinstance(found, dict):
                raise ValueError("no JSON object")
        except (httpx.HTTPError, httpx.InvalidURL, ValueError, RecursionError) as error:
            raise NotLetIn(
                f"the OpenID provider does not answer: {printable(str(error))[:200]}", "oidc.provider"
            ) from error
        return found


def roles(provider: Provider, claims: Mapping[str, Any]) -> dict[str, Role]:
    """The roles that claims stand for; of several in a project the greatest."""
    from faultwire.store.tokens import ROLES

    found: dict[str, Role] = {}
    for one in provider.roles:
        value = claims.get(one.claim)
        has = one.value in value if isinstance(value, list) else value == one.value
        if has and ROLES.index(one.role) >= ROLES.index(found.get(one.project, "viewer")):
            found[one.project] = one.role
    return found


def _kept(known: OrderedDict[str, Any], key: str, value: Any) -> None:
    while len(known) >= WAITING:
        known.popitem(last=False)
    known[key] = value
