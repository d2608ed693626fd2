"""An OpenID provider's answers: the sound one lets in, each that is bent does not."""

from __future__ import annotations

import json
import time
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from faultwire.service.guard import NotLetIn
from faultwire.service.oidc import Oidc, roles
from faultwire.service.settings import Provider

ISSUER = "https://login.example"
KEY, OTHER = (rsa.generate_private_key(65537, 2048) for _ in range(2))
PROVIDER = Provider.model_validate(
    {
        "issuer": ISSUER, "client_id": "faultwire",
        "roles": [
            {"claim": "groups", "value": "qa", "project": "shop", "role": "viewer"},
            {"claim": "groups", "value": "leads", "project": "shop", "role": "admin"},
            {"claim": "email", "value": "a@x.example", "project": "lab", "role": "runner"},
        ],
    }
)  # fmt: skip


class Login:
    """The provider: its documents, and the ID token that it gives for a code."""

    def __init__(self) -> None:
        self.form: dict[str, Any] = {}
        self.id_token = ""
        self.issuer = ISSUER

    def __call__(self, method: str, url: str, **more: Any) -> httpx.Response:
        path = urlsplit(url).path
        if path == "/.well-known/openid-configuration":
            return httpx.Response(200, json={
                "issuer": self.issuer, "authorization_endpoint": f"{ISSUER}/authorize",
                "token_endpoint": f"{ISSUER}/token", "jwks_uri": f"{ISSUER}/keys",
            })  # fmt: skip
        if path == "/keys":
            public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(KEY.public_key()))
            return httpx.Response(200, json={"keys": [{**public, "kid": "k1", "use": "sig", "alg": "RS256"}]})
        self.form = more["data"]
        return httpx.Response(200, json={"id_token": self.id_token})


def signed(key: Any = KEY, algorithm: str = "RS256", kid: str = "k1", **claims: Any) -> str:
    now = int(time.time())
    body = {
        "iss": ISSUER, "aud": "faultwire", "sub": "1", "iat": now, "exp": now + 300, "email": "a@x.example",
        "groups": ["qa"], **claims,
    }  # fmt: skip
    body = {name: value for name, value in body.items() if value is not None}
    return jwt.encode(body, key, algorithm, {"kid": kid})


@pytest.fixture
def login() -> Login:
    return Login()


def begun(oidc: Oidc, login: Login, **claims: Any) -> tuple[str, dict[str, str]]:
    place, state = oidc.begin("https://team.example/login/callback")
    query = {name: values[0] for name, values in parse_qs(urlsplit(place).query).items()}
    login.id_token = signed(nonce=query["nonce"], **claims)
    return state, query


def test_who_comes_back_has_the_roles_of_their_claims(login: Login) -> None:
    oidc = Oidc(PROVIDER, "s3cret", login)
    state, query = begun(oidc, login)
    assert query["code_challenge_method"] == "S256"
    caller = oidc.finish(state, state, "code", "https://team.example/login/callback")
    assert (caller.name, caller.roles) == ("oidc:a@x.example", {"shop": "viewer", "lab": "runner"})
    assert login.form["client_secret"] == "s3cret"
    assert len(login.form["code_verifier"]) >= 43  # RFC 7636, section 4.1


def test_the_greatest_of_several_roles_counts() -> None:
    assert roles(PROVIDER, {"groups": ["leads", "qa"]}) == {"shop": "admin"}
    assert roles(PROVIDER, {"groups": "qa"}) == {"shop": "viewer"}
    assert roles(PROVIDER, {"groups": ["qaa"], "email": ["a@x.example"]}) == {"lab": "runner"}
    assert roles(PROVIDER, {}) == {}


def test_an_answer_counts_once_and_for_the_browser_that_asked(login: Login) -> None:
    oidc = Oidc(PROVIDER, None, login)
    state, _ = begun(oidc, login)
    with pytest.raises(NotLetIn) as raised:
        oidc.finish(state, "another browser's", "code", "x")
    assert raised.value.code == "oidc.state"
    with pytest.raises(NotLetIn):  # and the attempt is used up by it
        oidc.finish(state, state, "code", "x")
    state, _ = begun(oidc, login)
    assert oidc.finish(state, state, "code", "x").roles
    with pytest.raises(NotLetIn):
        oidc.finish(state, state, "code", "x")


def test_a_token_of_another_attempt_is_refused(login: Login) -> None:
    oidc = Oidc(PROVIDER, None, login)
    state, _ = begun(oidc, login)
    login.id_token = signed(nonce="of another attempt")
    with pytest.raises(NotLetIn) as raised:
        oidc.finish(state, state, "code", "x")
    assert raised.value.code == "oidc.nonce"


def bent() -> dict[str, str]:
    now = int(time.time())
    sound = signed()
    head, claims, mac = sound.split(".")
    return {
        "expired": signed(exp=now - 120, iat=now - 900),
        "not yet": signed(nbf=now + 3600),
        "of another issuer": signed(iss="https://evil.example"),
        "for another client": signed(aud="other"),
        "for several clients": signed(aud=["faultwire", "other"]),
        "by another key": signed(OTHER),
        "by a key that is not named": signed(kid="k2"),
        "by none": jwt.encode({"iss": ISSUER}, "", "none"),
        "by the public key as a secret": signed("x" * 32, "HS256"),
        "without an end": signed(exp=None),
        "without a subject": signed(sub=None),
        "for a year": signed(exp=now + 365 * 86400),
        "changed": f"{head}.{claims[:-4]}AAAA.{mac}",
        "cut": sound[:-10],
        "empty": "",
        "no token": "a.b.c",
    }


@pytest.mark.parametrize("name", bent())
def test_a_bent_token_is_refused(login: Login, name: str) -> None:
    with pytest.raises(NotLetIn) as raised:
        Oidc(PROVIDER, None, login).caller(bent()[name])
    assert raised.value.code == "oidc.token"


def test_a_token_is_taken_once(login: Login) -> None:
    oidc, token = Oidc(PROVIDER, None, login), signed()
    assert oidc.caller(token).roles["shop"] == "viewer"
    with pytest.raises(NotLetIn) as raised:
        oidc.caller(token)
    assert raised.value.code == "oidc.replayed"


def test_a_provider_that_is_not_who_it_should_be_is_refused(login: Login) -> None:
    login.issuer = "https://evil.example"
    with pytest.raises(NotLetIn) as raised:
        Oidc(PROVIDER, None, login).begin("x")
    assert raised.value.code == "oidc.provider"
    for answer in (
        httpx.Response(302),
        httpx.Response(200, content=b"[]"),
        httpx.Response(200, content=b"{"),
    ):
        with pytest.raises(NotLetIn):
            Oidc(PROVIDER, None, lambda *_, answer=answer, **__: answer).begin("x")
