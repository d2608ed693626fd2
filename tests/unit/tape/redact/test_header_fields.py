"""Header fields, paths and queries: what a name or a shape tells goes, what identifies things stays."""

# ruff: noqa: E501 - heads are kept whole

from __future__ import annotations

import random
import string
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from faultwire.events import Exchange, Headers, Request, Response
from faultwire.replay.mask import Masks
from faultwire.replay.request_key import asked, clean
from faultwire.tape.read.reader import TapeReader
from faultwire.tape.record.writer import TapeWriter
from faultwire.tape.redact.header_fields import field_edits, has_secret_path, path_edits, url_edits
from faultwire.tape.redact.redactor import Redactor

KEY = b"k" * 32
WORDS = "q7Rk2mZx9TbV4nLc8WdYs3HfJp6GaEu1Ki5MoNtQ"
HEX = "4f1c9be27a60d83e5b7c19fa02d6e8b4"


def cut(text: str, edits: list) -> str:
    out, at = [], 0
    for edit in edits:
        out += [text[at : edit.start], f"<{edit.what}>"]
        at = edit.end
    return "".join(out) + text[at:]


@pytest.mark.parametrize(
    ("name", "value", "left"),
    [
        ("X-Datadog", HEX, "<secret.datadog-api-key>"),
        ("x-note", f"DD_API_KEY={HEX}", "DD_API_KEY=<secret.datadog-api-key>"),
        ("x-note", f"use lin_api_{WORDS} today", "use <secret.linear-key> today"),
        ("x-note", HEX, HEX),
        # Identifiers and what servers say of themselves.
        ("x-datadog-trace-id", HEX, HEX),
        ("X-Datadog-Request-Id", HEX, HEX),
        ("etag", f'"datadog {HEX}"', f'"datadog {HEX}"'),
        ("location", f"https://datadog.example/{HEX}", f"https://datadog.example/{HEX}"),
        ("location", f"/x?app=datadog&id={HEX}", f"/x?app=datadog&id={HEX}"),
        ("location", f"/x?datadog={HEX}&id=1", "/x?datadog=<secret.datadog-api-key>&id=1"),
    ],
)
def test_fields(name: str, value: str, left: str) -> None:
    assert cut(value, field_edits(name, value)) == left


SLACK = "/services/T0123456789/B0123456789/aB3dE5fG7hJ9kL1mN3pQ5rS7"


@pytest.mark.parametrize(
    ("path", "left"),
    [
        (f"/v1/x?datadog={HEX}&page=2", "/v1/x?datadog=<secret.datadog-api-key>&page=2"),
        (f"/v1/x?q=datadog+{HEX}", "/v1/x?q=datadog+<secret.datadog-api-key>"),
        (
            f"/x?aws=x&q=aws_secret%3D{WORDS[:20]}%2F{WORDS[:19]}",
            "/x?aws=x&q=aws_secret%3D<secret.aws-secret-key>",
        ),
        (f"/x/123456789:AA{WORDS[:33]}/y", "/x/<secret.telegram-bot-token>/y"),
        # A name in one place says nothing of another one.
        ("/x?note=amqp%3A%2F%2Fu%3Aq7Rk2mZx9T%40h.example%2Fv", "/x?note=<secret.amqp-url>"),
        (f"/datadog/{HEX}", f"/datadog/{HEX}"),
        (f"/x?app=datadog&id={HEX}", f"/x?app=datadog&id={HEX}"),
        (SLACK, SLACK),
    ],
)
def test_paths(path: str, left: str) -> None:
    assert cut(path, path_edits(path)) == left
    assert cut(path, url_edits(path)) == left


def test_a_path_may_be_a_secret_at_one_host_only() -> None:
    assert has_secret_path("hooks.slack.com")
    assert has_secret_path("Discord.com.")
    assert not has_secret_path("api.openai.com")
    assert cut(SLACK, path_edits(SLACK, "https://hooks.slack.com")) == "/<secret.slack-webhook>"
    assert path_edits(SLACK, "https://hooks.example.com") == []
    bot = f"/file/bot123456789:AA{WORDS[:33]}/photo"
    assert (
        cut(bot, path_edits(bot, "https://api.telegram.org")) == "/file/bot<secret.telegram-bot-token>/photo"
    )


BOT = f"/bot123456789:AA{WORDS[:33]}"


@pytest.mark.parametrize(
    ("path", "origin", "left"),
    [
        (f"{BOT}/getMe", "https://api.telegram.org", "/bot<secret.telegram-bot-token>/getMe"),
        (f"{BOT}/x/bottom", "https://api.telegram.org", "/bot<secret.telegram-bot-token>/x/bottom"),
        (f"{SLACK}?to=/bot", "https://hooks.slack.com", "/<secret.slack-webhook>?to=/bot"),
        (f"{SLACK}?token=9f8e7d6c", "https://hooks.slack.com", "/<secret.slack-webhook>?token=<query>"),
        ("/", "https://hooks.slack.com", "/"),
        (f"/xy{BOT[4:]}", "https://api.telegram.org", f"/xy{BOT[4:]}"),
        (BOT, "", BOT),
        ("/x?token=9f8e7d6c?b", "", "/x?token=<query>"),
        ("", "https://hooks.slack.com", ""),
        ("/x?token=9f8e7d6c", "", "/x?token=<query>"),
        ("/x?token=9f8e=7d6c&b=1", "", "/x?token=<query>&b=1"),
        ("/x?a=1&token=9f8e7d6c&b=?", "", "/x?a=1&token=<query>&b=?"),
        ("/x?a=1&&pwd=1&token=9f8e7d6c", "", "/x?a=1&&pwd=<query>&token=<query>"),
        ("/x?token=", "", "/x?token="),
        ("?token=9f8e7d6c", "", "?token=<query>"),
        # So short only a path's own pairs are taken for secrets under such a name.
        ("/x?key=b?c", "", "/x?key=<query>"),
        ("/x?key=b=c&d=1", "", "/x?key=<query>&d=1"),
    ],
    ids=ascii,
)
def test_where_a_secret_stands_in_a_path(path: str, origin: str, left: str) -> None:
    found = path_edits(path, origin)
    assert cut(path, found) == left
    assert [edit.value for edit in found] == [path[edit.start : edit.end] for edit in found]


@pytest.mark.parametrize("name", ["location", " Content-Location ", "REFERER", "origin", "link"])
def test_fields_with_addresses_are_looked_through_as_such(name: str) -> None:
    address = "https://user:pass-word@h.example/x?token=9f8e7d6c&b=1"
    assert cut(address, field_edits(name, address)) == "https://<userinfo>@h.example/x?token=<query>&b=1"
    assert cut(address, field_edits("x-note", address)).startswith("https://<userinfo>@h.example/x?token=")


def test_a_value_at_the_very_beginning_of_a_field_goes_by_its_name() -> None:
    for name in ("X-Datadog", "x-datadog"):
        (edit,) = field_edits(name, HEX)
        assert (edit.start, edit.end, edit.value) == (0, len(HEX), HEX)
        assert edit.begin == 0, "what tells it stands in the name"
    assert field_edits("x-datadog", f"a {HEX}")[0].start in (0, 2)
    assert all(edit.begin == edit.start for edit in field_edits("x-datadog", f"a {HEX}"))
    assert field_edits("x-request-id", f"lin_api_{WORDS}") == []
    assert cut(f"lin_api_{WORDS}", field_edits("etag", f"lin_api_{WORDS}")) == "<secret.linear-key>"


def test_what_is_replaced_stays_replaced() -> None:
    redactor, counts = Redactor(KEY), dict[str, int]()
    event = {"path": f"/x?datadog={HEX}", "headers": (("X-Datadog", HEX), ("accept", "*/*"))}
    once = redactor.checked(event, counts)
    assert counts == {"secret.datadog-api-key": 2}
    assert HEX not in str(once)
    assert redactor.event(once, {}) == once


# ---------------------------------------------------------------- a tape, and replay


REQUESTS = [
    Request("GET", "https", "api.example.com", 443, f"/v1/x?datadog={HEX}", (("x-datadog", HEX),), b"{}"),
    Request("GET", "https", "api.telegram.org", 443, f"/bot123456789:AA{WORDS[:33]}/getMe", (), None),
    Request("POST", "https", "hooks.slack.com", 443, SLACK, (), b'{"text":"hi"}'),
    Request("GET", "https", "api.example.com", 443, f"/v1/x?a=lin_api_{WORDS}", (), None),
    Request("POST", "https", "api.example.com", 443, "/", (("x-amz-target", f"datadog {HEX}"),), b"{}"),
    Request("GET", "https", "api.example.com", 443, "/half\udc80", (("x-datadog", HEX),), None),
]


@pytest.mark.parametrize("request_", REQUESTS, ids=range(len(REQUESTS)))
def test_replay_asks_what_the_tape_holds(tmp_path: Path, request_: Request) -> None:
    path = tmp_path / "t.tape"
    writer = TapeWriter.create(path, origin="p/t", settings={}, key=KEY)
    recording = writer.record(Exchange("s", 1, request_, "tool"))
    recording.request(request_)
    recording.end("complete")
    writer.close()
    assert writer.failed is None
    with TapeReader.open(path) as reader:
        stored = next(iter(reader.exchanges())).request
    live = clean(request_, Redactor(KEY))
    assert (live.path, live.headers) == (stored.path, stored.headers)
    assert asked(live, Masks()).key == asked(stored, Masks()).key
    other = clean(request_, Redactor(b"x" * 32))
    assert (other == live) == ("redacted:v1:" not in str(live))


# ---------------------------------------------------------------- clean traffic


def drawn(alphabet: str) -> Callable[[random.Random, int], str]:
    return lambda chance, count: "".join(chance.choices(alphabet, k=count))


HEXES, WORD, URL64 = (
    drawn("0123456789abcdef"),
    drawn(string.ascii_letters + string.digits),
    drawn(string.ascii_letters + string.digits + "-_"),
)
ULID = drawn("0123456789ABCDEFGHJKMNPQRSTVWXYZ")


def uid(chance: random.Random) -> str:
    return str(uuid.UUID(int=chance.getrandbits(128), version=4))


def heads(r: random.Random) -> list[Headers]:
    """Heads of answers and requests, as providers, their networks and SDKs write them."""
    ray = (("server", "cloudflare"), ("cf-ray", f"{HEXES(r, 16)}-FRA"), ("cf-cache-status", "DYNAMIC"))
    nel = (
        ("report-to", '{"endpoints":[{"url":"https:\\/\\/a.nel.cloudflare.com\\/report\\/v4?s=' + WORD(r, 40)
         + "%2B" + WORD(r, 40) + "%2F" + WORD(r, 32) + '"}],"group":"cf-nel","max_age":604800}'),
        ("nel", '{"success_fraction":0,"report_to":"cf-nel","max_age":604800}'),
    )  # fmt: skip
    left = (("x-ratelimit-remaining-tokens", "149984"), ("x-ratelimit-reset-tokens", "6ms"))
    parent = ("traceparent", f"00-{HEXES(r, 32)}-{HEXES(r, 16)}-01")
    date = ("date", "Sat, 21 Nov 2026 12:00:00 GMT")
    return [
        (date, ("x-request-id", f"req_{HEXES(r, 32)}"), ("openai-processing-ms", "312"), *left, *ray),
        (date, ("request-id", f"req_011C{WORD(r, 20)}"), ("via", "1.1 google"), *ray, *nel),
        (("x-amzn-requestid", uid(r)), ("x-amzn-bedrock-invocation-latency", "312"), ("x-amz-id-2", WORD(r, 76))),
        (("x-amz-content-sha256", HEXES(r, 64)), ("x-amz-date", "20261121T120000Z"), ("amz-sdk-invocation-id", uid(r))),
        (("apim-request-id", uid(r)), ("x-ms-region", "Sweden Central"), ("azureml-model-session", f"d{HEXES(r, 12)}")),
        (("x-ms-client-request-id", uid(r)), ("x-ms-deployment-name", "azure-openai-gpt4"), ("x-ms-rai-invoked", "true")),
        (("server-timing", "gfet4t7; dur=312"), ("x-goog-hash", f"md5={WORD(r, 22)}=="), ("alt-svc", 'h3=":443"; ma=2592000')),
        (("mistral-correlation-id", uid(r)), ("x-kong-request-id", HEXES(r, 32)), ("x-envoy-upstream-service-time", "12")),
        (("x-groq-region", "us-west-1"), ("x-request-id", f"req_{ULID(r, 26).lower()}"), *left),
        (("x-vercel-id", f"fra1::iad1::{WORD(r, 5).lower()}-1732270000000-{HEXES(r, 12)}"), ("x-vercel-cache", "MISS")),
        (("x-github-request-id", ":".join(HEXES(r, 4).upper() for _ in range(5))), ("etag", f'W/"{HEXES(r, 64)}"')),
        (("x-datadog-trace-id", str(r.getrandbits(63))), ("x-datadog-tags", f"_dd.p.tid={HEXES(r, 16)}"), parent),
        (("traceparent", parent[1]), ("tracestate", f"dd=s:1;t.dm:-4;p:{HEXES(r, 16)},rojo={HEXES(r, 32)}")),
        (("x-served-by", "cache-fra-eddf8230072-FRA"), ("x-timer", "S1732270000.123456,VS0,VE312"), ("x-fastly-request-id", HEXES(r, 40))),
        (("x-cloud-trace-context", f"{HEXES(r, 32)}/{r.getrandbits(63)};o=1"), ("x-correlation-id", uid(r))),
        (("content-security-policy", f"default-src 'self'; script-src 'sha256-{WORD(r, 43)}=' https://js.stripe.com"),),
        (("user-agent", "OpenAI/Python 2.8.0"), ("x-stainless-runtime-version", "3.11.7"), ("idempotency-key", f"stainless-python-retry-{uid(r)}")),
        (("anthropic-version", "2023-06-01"), ("anthropic-beta", "prompt-caching-2024-07-31"), ("anthropic-organization-id", uid(r))),
        (("mcp-protocol-version", "2025-06-18"), ("last-event-id", f"{uid(r)}_{r.getrandbits(40)}")),
        (("x-twilio-request-id", f"RQ{HEXES(r, 32)}"), ("twilio-concurrent-requests", "1"), ("x-shenanigans", "none")),
        (("x-heroku-queue-wait-time", "1"), ("x-railway-request-id", URL64(r, 22)), ("x-railway-edge", "railway/europe-west4")),
        (("x-cache", "Miss from cloudfront"), ("x-amz-cf-id", f"{URL64(r, 55)}=="), ("x-amz-cf-pop", "FRA56-P8")),
        (("link", f'<https://api.github.com/repositories/1/issues?after={WORD(r, 48)}%3D&page=2>; rel="next"'),),
        (("location", f"/v1/files/file-{WORD(r, 24)}?trace={HEXES(r, 32)}"), ("content-md5", f"{WORD(r, 22)}==")),
        (("x-replicate-prediction", ULID(r, 26).lower()), ("x-modal-function-call-id", f"fc-{ULID(r, 26)}")),
        (("x-sentry-error", "none"), ("sentry-trace", f"{HEXES(r, 32)}-{HEXES(r, 16)}"), ("baggage", f"sentry-trace_id={HEXES(r, 32)}")),
        (("x-elastic-product", "Elasticsearch"), ("x-opaque-id", HEXES(r, 32)), ("x-pinecone-request-id", str(r.getrandbits(60)))),
        (("x-algolia-ua", "x"), ("x-okta-request-id", URL64(r, 22)), ("x-slack-req-id", HEXES(r, 32)), ("x-slack-unique-id", WORD(r, 40))),
    ]  # fmt: skip


def paths(r: random.Random) -> list[str]:
    """Paths of APIs, with identifiers where they stand."""
    return [
        "/v1/chat/completions",
        f"/v1/threads/thread_{WORD(r, 24)}/runs/run_{WORD(r, 24)}",
        f"/v1/files/file-{WORD(r, 24)}/content",
        f"/v1beta/models/gemini-2.0-flash:streamGenerateContent?alt=sse&cache={HEXES(r, 32)}",
        "/model/anthropic.claude-3-5-sonnet-20241022-v2%3A0/converse-stream",
        f"/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21&trace={uid(r)}",
        f"/v1/agents/ag_{HEXES(r, 32)}/conversations?page_size=20&cursor={URL64(r, 44)}",
        f"/apps/heroku/{uid(r)}/builds?after={uid(r)}",
        f"/repos/x/y/git/blobs/{HEXES(r, 40)}?ref={HEXES(r, 40)}",
        f"/mistral/{WORD(r, 32)}/cohere/{WORD(r, 40)}",
        f"/search?q=how+to+rotate+a+datadog+key&hint={r.getrandbits(40)}&page=3",
        f"/tasks/{uid(r)}?contextId={uid(r)}&historyLength=10",
    ]


IDENTIFIERS = ("request-id", "requestid", "cf-ray", "trace", "correlation", "amz-id-2")


def test_clean_heads_and_paths_are_not_touched() -> None:
    chance, redactor = random.Random(17), Redactor(KEY)
    seen = touched = 0
    identified = 0
    for _ in range(150):
        for headers in heads(chance):
            left = redactor.checked({"headers": headers}, {})["headers"]
            seen += 1
            touched += any(list(new) != list(old) for new, old in zip(left, headers, strict=True))
            for (name, value), (_, new) in zip(headers, left, strict=True):
                if any(one in name for one in IDENTIFIERS):
                    identified += 1
                    assert new == value, (name, value)
        for path in paths(chance):
            left_path = redactor.path(path, {}, "api.example.com")
            seen += 1
            touched += redactor.checked({"path": left_path}, {})["path"] != path
    print(f"{touched} of {seen} clean heads and paths touched")
    assert touched <= seen // 1000
    assert identified > 2000


def test_identifiers_of_answers_stay_on_a_tape(tmp_path: Path) -> None:
    chance, path = random.Random(3), tmp_path / "t.tape"
    writer = TapeWriter.create(path, origin="p/t", settings={}, key=KEY)
    sent = heads(chance)
    for number, headers in enumerate(sent, 1):
        request = Request("POST", "https", "h", 443, "/", (("x-datadog", HEX),), b"{}")
        recording = writer.record(Exchange("s", number, request, "llm"))
        recording.request(request)
        recording.upstream_head(Response(200, "OK", headers))
        recording.end("complete")
    writer.close()
    with TapeReader.open(path) as reader:
        for exchange, headers in zip(reader.exchanges(), sent, strict=True):
            assert exchange.upstream is not None
            assert [list(one) for one in exchange.upstream.headers] == [list(one) for one in headers]
            assert HEX not in str(exchange.request.headers)
