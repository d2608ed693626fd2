"""Profiles from text: what is understood, and every message word for word."""

# ruff: noqa: E501 - each message stands in one line of its table
from __future__ import annotations

import hashlib

import pytest

from faultwire.errors import ProfileError
from faultwire.faults._registry import registry
from faultwire.profile.entry_model import On, Trigger
from faultwire.profile.find import available
from faultwire.profile.load import load, parse
from faultwire.profile.model import ToolSite

WHOLE = """\
# a comment
name: whole
description: All of it.
tools:
  search: {url: "https://api.example.com/search*"}
  mail: {url: [https://a/*, https://b/*]}
faults:
  - truncate_response: {max_tokens: 20}
    on: {kind: llm, provider: openai, model: "gpt-4*", stream: true, header: {x-team: "a*"}}
    trigger: {probability: 0.3, max_times: 3, attempts: first}
  - status: {code: 503, headers: {retry-after: "5"}}
    id: search_down
    on: {tool: [search, mail], status: [200, 201]}
    trigger: {after_calls: 5}
  - rate_limit
  - rate_limit:
"""


def test_a_whole_profile():
    profile = parse(WHOLE, "whole.yaml")
    assert (profile.name, profile.description, profile.path) == ("whole", "All of it.", "whole.yaml")
    assert profile.digest == hashlib.sha256(WHOLE.encode()).hexdigest()
    assert profile.tools == {
        "search": ToolSite(url="https://api.example.com/search*"),
        "mail": ToolSite(url=("https://a/*", "https://b/*")),
    }
    assert [(e.id, e.line) for e in profile.entries] == [
        ("truncate_response", 8),
        ("search_down", 11),
        ("rate_limit", 15),
        ("rate_limit#2", 16),
    ]
    first, second, *_ = profile.entries
    assert first.on == On(kind="llm", provider="openai", model="gpt-4*", stream=True, header={"x-team": "a*"})
    assert first.trigger == Trigger(probability=0.3, max_times=3, attempts="first")
    assert second.on == On(tool=("search", "mail"), status=(200, 201))
    assert second.fault.model_dump()["headers"] == {"retry-after": "5"}


def test_bytes_and_text_are_the_same_profile():
    assert parse(WHOLE.encode(), "p.yaml") == parse(WHOLE, "p.yaml")


def test_the_name_may_be_the_files():
    assert parse("faults: []", "some/where.yaml").name == "where"


def test_on_and_no_are_words_not_booleans():
    (entry,) = parse("faults: [{rate_limit: {}, on: {model: no, session: 'true'}}]", "p").entries
    assert entry.on == On(model="no", session="true")


ENTRY = "faults:\n  - "
KNOWN = f"known: {', '.join(sorted(registry()))}"
ONCE = "rate_limit:\n    trigger: "
ERRORS = [
    # text, place, code, message, hint
    ("", "1:1", "bad_value", "found no `faults` in the profile, expected a list", "`faults: []` has no faults"),
    ("[]", "1:1", "bad_value", "found a list for a profile, expected a mapping", None),
    ("faults:", "1:1", "bad_value", "found nothing for `faults`, expected a list", "`faults: []` has no faults"),
    ("faults: {a: 1}", "1:9", "bad_value", "found a mapping for `faults`, expected a list", "start each entry with `-`"),
    ("fautls: []\nfaults: []", "1:1", "unknown_key", "found key `fautls`, expected a key of a profile", "did you mean `faults`?"),
    ("name: a b\nfaults: []", "1:7", "bad_value", "found `a b` for `name`, expected 1 to 64 letters, digits, `.`, `_` or `-`", None),
    ("name: ../x\nfaults: []", "1:7", "bad_value", "found `../x` for `name`, expected 1 to 64 letters, digits, `.`, `_` or `-`", None),
    ("name: 5\nfaults: []", "1:7", "bad_value", "found `5` for `name`, expected text", None),
    ("description: [a]\nfaults: []", "1:14", "bad_value", "found a list for `description`, expected text", None),
    ("tools: 5\nfaults: []", "1:8", "bad_value", "found `5` for `tools`, expected a mapping", None),
    ("tools: {s: }\nfaults: []", "1:9", "bad_value", "found no `url` for tool `s`, expected where it is called", None),
    ("tools: {s: {urls: a}}\nfaults: []", "1:13", "unknown_key", "found key `urls`, expected a key of `tools.s`", "did you mean `url`?"),
    ("tools: {s: {url: 5}}\nfaults: []", "1:18", "bad_value", "found `5` for `tools.s.url`, expected text or a list of texts", None),
    (ENTRY + "5", "2:5", "bad_value", "found `5` for an entry, expected a fault", None),
    (ENTRY + "{}", "2:5", "bad_value", "found a mapping for an entry, expected a fault", None),
    (ENTRY + "latncy: {ms: 5}", "2:5", "unknown_fault", "found fault `latncy`, expected a known one", "did you mean `latency`?"),
    (ENTRY + "latncy", "2:5", "unknown_fault", "found fault `latncy`, expected a known one", "did you mean `latency`?"),
    (ENTRY + "zzzz", "2:5", "unknown_fault", "found fault `zzzz`, expected a known one", KNOWN),
    (ENTRY + "on: {kind: llm}", "2:5", "bad_value", "found an entry without a fault, expected one", KNOWN),
    (ENTRY + "rate_limit:\n    reset:", "3:5", "bad_value", "found fault `reset` beside `rate_limit`, expected one in each entry", "start each entry with `-`"),
    (ENTRY + "rate_limit:\n    tigger: {}", "3:5", "unknown_key", "found key `tigger`, expected a key of an entry", "did you mean `trigger`?"),
    (ENTRY + "rate_limit: 5", "2:17", "bad_value", "found `5` for `rate_limit`, expected a mapping", None),
    (ENTRY + "rate_limit: {aftr_calls: 2}", "2:18", "unknown_key", "found key `aftr_calls`, expected a key of `rate_limit`", "did you mean `after_calls`, a key of `trigger`?"),
    (ENTRY + "status: {code: 503, model: x}", "2:25", "unknown_key", "found key `model`, expected a key of `status`", "did you mean `model`, a key of `on`?"),
    (ENTRY + "status: {status: 503, code: 503}", "2:14", "unknown_key", "found key `status`, expected a key of `status`", "known: call_upstream, code, headers, message"),
    (ENTRY + "latency: {ms: 1, delay: 5}", "2:22", "unknown_key", "found key `delay`, expected a key of `latency`", "known: distribution, jitter_ms, ms, p99_ms"),
    (ENTRY + "rate_limit: {retry_after: 5}", "2:18", "unknown_key", "found key `retry_after`, expected a key of `rate_limit`", "did you mean `retry_after_s`?"),
    (ENTRY + "rate_limit: {retry_after_s: -1}", "2:33", "bad_value", "found `-1` for `rate_limit.retry_after_s`, expected a number from 0 to 86400", None),
    (ENTRY + "rate_limit: {retry_after_s: '1'}", "2:33", "bad_value", "found `1` for `rate_limit.retry_after_s`, expected a number from 0 to 86400", None),
    (ENTRY + "rate_limit: {retry_after_s: .nan}", "2:33", "bad_value", "found `.nan` for `rate_limit.retry_after_s`, expected a number from 0 to 86400", None),
    (ENTRY + "status: {}", "2:13", "bad_value", "found no `code` in `status`, expected an integer from 400 to 599", None),
    (ENTRY + "status: {code: 503.0}", "2:20", "bad_value", "found `503.0` for `status.code`, expected an integer from 400 to 599", None),
    (ENTRY + "status: {code: 503, call_upstream: yes}", "2:40", "bad_value", "found `yes` for `status.call_upstream`, expected `true` or `false`", None),
    (ENTRY + "status: {code: 503, headers: {a: 5}}", "2:38", "bad_value", "found `5` in `status.headers`, expected text", None),
    (ENTRY + 'status: {code: 503, headers: {a: "b\\r\\nc: d"}}', "2:34", "bad_value", "in `status`: found a line end or another control character in header `a`", None),
    (ENTRY + "reset: {at: nowhere}", "2:17", "bad_value", "found `nowhere` for `reset.at`, expected `before_headers`, `after_headers` or {after_bytes: an integer from 1 to 1000000000}", None),
    (ENTRY + "latency: {ms: true}", "2:19", "bad_value", "found `true` for `latency.ms`, expected a number from 0 to 3600000", None),
    (ENTRY + "latency: {ms: 5, jitter_ms: 3}", "2:14", "bad_value", "in `latency`: found `jitter_ms`, which distribution `constant` does not take", None),
    (ENTRY + "cut_stream:", "2:5", "bad_value", "in `cut_stream`: found neither of `after_events` and `inside`, expected one", None),
    (ENTRY + "rate_limit:\n    id: 'a b'", "3:9", "bad_value", "found `a b` for `id`, expected 1 to 64 letters, digits, `.`, `_` or `-`", None),
    (ENTRY + "rate_limit:\n    id: latency", "3:9", "bad_value", "found `latency` for `id`, which is another fault's name", None),
    (ENTRY + "{rate_limit: , id: a}\n  - {latency: {ms: 1}, id: a}", "3:5", "bad_value", "found id `a` again, expected it once (first on line 2)", None),
    (ENTRY + "rate_limit:\n    on: llm", "3:9", "bad_value", "found `llm` for `on`, expected a mapping", None),
    (ENTRY + "rate_limit:\n    on: {kind: LLM}", "3:16", "bad_value", "found `LLM` for `on.kind`, expected `llm`, `tool`, `agent`, `other` or a list of them", None),
    (ENTRY + "rate_limit:\n    on: {modle: x}", "3:10", "unknown_key", "found key `modle`, expected a key of `on`", "did you mean `model`?"),
    (ENTRY + "rate_limit:\n    on: {host: 5}", "3:16", "bad_value", "found `5` for `on.host`, expected text or a list of texts", None),
    (ENTRY + "rate_limit:\n    trigger: {probability: 1.5}", "3:28", "bad_value", "found `1.5` for `trigger.probability`, expected a number from 0 to 1", None),
    (ENTRY + "rate_limit:\n    trigger: {first: 0}", "3:22", "bad_value", "found `0` for `trigger.first`, expected an integer from 1 up", None),
    (ENTRY + "rate_limit:\n    trigger: {attempts: second}", "3:25", "bad_value", "found `second` for `trigger.attempts`, expected `all`, `first` or an integer from 1 up", None),
    (ENTRY + "rate_limit:\n    trigger: {evry: 2}", "3:15", "unknown_key", "found key `evry`, expected a key of `trigger`", "did you mean `every`?"),
    # what can never fire
    (ENTRY + "rate_limit:\n    trigger: {first: 1, after_calls: 2}", "3:15", "never_fires", "found `first` with `after_calls`, expected one of them", "remove `first` or `after_calls`"),
    (ENTRY + "truncate_response: {max_tokens: 1}\n    on: {kind: tool}", "3:10", "never_fires", "found `kind: tool` for `truncate_response`, which acts on `llm` only", "remove `kind`, or choose another fault"),
    (ENTRY + "tool_error:\n    on: {status: 500}", "3:10", "never_fires", "found `status` for `tool_error`, which acts before there is an answer", "remove `status`"),
    (ENTRY + "slow_tokens: {ms: 1}\n    on: {stream: false}", "3:10", "never_fires", "found `stream: false` for `slow_tokens`, which does not act there: the request asks for no stream", "remove `stream`, or choose another fault"),
    (ENTRY + "rate_limit:\n    on: {kind: tool, model: x}", "3:22", "never_fires", "found `model` with `kind: tool`, which only `llm` and `agent` exchanges have", "remove `model` or `kind`"),
    (ENTRY + "rate_limit:\n    on: {site: http, kind: other}", "3:10", "never_fires", "found `site: http` with `kind: other`, which no exchange has together", "remove `site` or `kind`"),
    (ENTRY + "rate_limit:\n    on: {tool: a, model: x}", "3:10", "never_fires", "found `tool` with `model`, which no exchange has together", "remove `tool` or `model`"),
    (ENTRY + "rate_limit:\n    on: {kind: llm, tool: a}", "3:21", "never_fires", "found `tool` with `kind: llm`, which only `tool` exchanges have", "remove `tool` or `kind`"),
    (ENTRY + "rate_limit:\n    on: {host: https://a}", "3:10", "never_fires", "found `https://a` for `host`, expected a name without scheme or path", "use `url` for a whole address"),
    (ENTRY + "rate_limit:\n    on: {path: v1/chat}", "3:10", "never_fires", "found `v1/chat` for `path`, expected it to start with `/` or `*`", "use `url` for a whole address"),
    (ENTRY + "rate_limit:\n    on: {method: [GET, post]}", "3:10", "never_fires", "found `post` for `method`, expected `POST`", "methods are in upper case"),
    (ENTRY + "rate_limit:\n    on: {model: []}", "3:10", "never_fires", "found an empty list for `model`, which never matches", "remove `model`, or name what it shall match"),
    (ENTRY + ONCE + "{calls: [1], first: 2}", "3:15", "never_fires", "found `calls` with `first`, expected one of them", "remove `calls` or `first`"),
    (ENTRY + ONCE + "{calls: [1], after_calls: 2}", "3:15", "never_fires", "found `calls` with `after_calls`, expected one of them", "remove `calls` or `after_calls`"),
    (ENTRY + ONCE + "{every: 2, calls: [1]}", "3:25", "never_fires", "found `calls` with `every`, expected one of them", "remove `calls` or `every`"),
    (ENTRY + ONCE + "{calls: []}", "3:15", "never_fires", "found an empty list for `calls`, which never fires", "remove `calls`, or say when it fires"),
    (ENTRY + ONCE + "{calls: [0]}", "3:23", "bad_value", "found `0` in `trigger.calls`, expected an integer from 1 up", None),
    (ENTRY + ONCE + "{every: 0}", "3:22", "bad_value", "found `0` for `trigger.every`, expected an integer from 1 up", None),
    (ENTRY + ONCE + "{between_s: [5, 5]}", "3:15", "never_fires", "found 5 to 5 for `between_s`, expected a span of time", "the first number is the smaller one"),
    (ENTRY + ONCE + "{between_s: [-1, 5]}", "3:27", "bad_value", "found `-1` in `trigger.between_s`, expected a number from 0 up", None),
    (ENTRY + ONCE + "{between_s: [5]}", "3:26", "bad_value", "found a list for `trigger.between_s`, expected a list of 2 numbers", None),
    (ENTRY + ONCE + "{stages: [{for_call: 2, probability: 0.1}]}", "3:25", "unknown_key", "found key `for_call`, expected a key of `trigger.stages`", "did you mean `for_calls`?"),
    (ENTRY + ONCE + "{stages: [{for_calls: 2}]}", "3:24", "bad_value", "found no `probability` in `trigger.stages`, expected a number from 0 to 1", None),
    (ENTRY + ONCE + "{recover_after: {s: 0}}", "3:34", "bad_value", "found `0` in `trigger.recover_after`, expected a number above 0, up to 86400", None),
    (ENTRY + "indirect_injection: {families: [overide]}", "2:36", "bad_value", "in `indirect_injection`: found family `overide` (did you mean `override`?), expected one of override, authority, task_shift, exfiltration, tool_abuse, obfuscated, direct, role_play, many_shot, refusal_suppression, multilingual, adversarial_suffix, tool_poisoning, rug_pull, shadowing, memory_planting, loops", None),
    (ENTRY + "recorded_response: {responses: [{respnse: x}]}", "2:38", "unknown_key", "found key `respnse`, expected a key of `recorded_response.responses`", "did you mean `response`?"),
    (ENTRY + "truncate_response: {max_tokens: 1}\n    on: {tool: search}", "3:10", "never_fires", "found `tool` for `truncate_response`, which acts on `llm` only", "remove `tool`, or choose another fault"),
    (ENTRY + ONCE + "{stages: [{probability: 0.1}, {probability: 0.2}]}", "3:15", "never_fires", "found a stage without `for_calls` before the last, expected its length", "only the last stage may go on for ever"),
    (ENTRY + ONCE + "{stages: [{probability: 0.1}], probability: 0.2}", "3:15", "never_fires", "found `stages` with `probability`, expected one of them", "remove `stages` or `probability`"),
    (ENTRY + ONCE + "{recover_after: {}}", "3:15", "never_fires", "found neither or both of `calls` and `s`, expected one", "`recover_after: {calls: 3}` or `recover_after: {s: 20}`"),
    (ENTRY + "latency: {ms: 1}\n    trigger: {no_sdk_retry: true}", "3:15", "never_fires", "found `no_sdk_retry` for `latency`, which gives no answer of its own", "remove `no_sdk_retry`"),
    (ENTRY + 'rate_limit:\n    on: {body: {"a.b": x}}', "3:10", "never_fires", "in path `a.b`: found no `$` at the start of a path", "a path is written as in `$.messages[0].role`"),
    (ENTRY + "rate_limit:\n    on: {turn: 0}", "3:10", "never_fires", "found `0` for `turn`, expected 1 or more", "the user's first message is turn 1"),
    (ENTRY + "rate_limit:\n    on: {kind: tool, text: x}", "3:22", "never_fires", "found `text` with `kind: tool`, which only `llm` and `agent` exchanges have", "remove `text` or `kind`"),
    (ENTRY + "rate_limit:\n    on: {status: [200, 700]}", "3:10", "never_fires", "found `700` for `status`, expected 100 to 599", "write the status that upstream answers with"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "place", "code", "message", "hint"), ERRORS)
def test_every_message(text, place, code, message, hint):
    with pytest.raises(ProfileError) as caught:
        parse(text, "p.yaml")
    error = caught.value
    assert str(error) == f"p.yaml:{place}: profile.{code}: {message}"
    assert error.hint == hint
    assert error.exit_code == 2
    assert error.also == ()


def test_everything_wrong_is_reported_at_once_in_the_order_of_the_file():
    text = "nam: x\nfaults:\n  - latncy\n  - status: {code: 1, cod: 2}\n    on: {kind: x}\n"
    with pytest.raises(ProfileError) as caught:
        parse(text, "p.yaml")
    error = caught.value
    assert [str(e.where) for e in (error, *error.also)] == [
        "p.yaml:1:1",
        "p.yaml:3:5",
        "p.yaml:4:20",
        "p.yaml:4:23",
        "p.yaml:5:16",
    ]
    assert error.render().count("\n") == 7, "a line each, and the three hints"


@pytest.mark.parametrize(
    "text",
    [
        'name: "\\e[2J\\u202e\\u009b"\nfaults: []',
        'faults: ["\\e]0;owned\\a"]',
        'faults: [{"\\e[31m": {}, rate_limit: }]',
        '"\\e[31m": 1\nfaults: []',
        'tools: {"\\e[31m": {}}\nfaults: []',
        'faults: [{rate_limit: {"\\u200b": 1}}]',
        'faults: [{rate_limit: , on: {kind: "\\U000E0041"}}]',
        'a: 1\n"\\u202eb": 1\n"\\u202eb": 2',
    ],
)
def test_no_message_can_steer_a_terminal(text):
    with pytest.raises(ProfileError) as caught:
        parse(text, "p\x1b[2J.yaml")
    rendered = caught.value.render()
    assert rendered.replace("\n", "").isprintable(), ascii(rendered)


def test_long_values_are_shortened():
    with pytest.raises(ProfileError) as caught:
        parse(f"name: '{'x y' * 5000}'\nfaults: []", "p.yaml")
    assert len(str(caught.value)) < 200


def test_a_file_that_cannot_be_read(tmp_path):
    for path, why in ((tmp_path / "absent.yaml", "no such file or directory"), (tmp_path, "is a directory")):
        with pytest.raises(ProfileError) as caught:
            load(path)
        assert caught.value.code == "profile.not_found"
        assert caught.value.message == f"found no readable file ({why}), expected a profile"


def test_a_file_that_is_too_large_is_not_read_to_its_end(tmp_path):
    path = tmp_path / "large.yaml"
    path.write_bytes(b"#" * 2_000_000)
    with pytest.raises(ProfileError, match="found more than 1000000 bytes, expected fewer"):
        load(path)


BUILT_IN = {"api_outage", "calm", "degraded_llm", "rate_limits", "stream_chaos"}


def test_the_built_in_profiles(tmp_path):
    found = {place.name: place for place in available(tmp_path)}
    assert found.keys() >= BUILT_IN
    for name, place in found.items():
        profile = load(place.path)
        text = place.path.read_text()
        assert profile.name == name
        assert profile.description.endswith(".")
        assert text.startswith("# Proves that "), "each opens with what it proves"
        assert "production" in text or name == "calm"
    assert load(found["calm"].path).entries == ()


def test_a_numbered_id_stays_where_it_stands_alone() -> None:
    """Dice depend on ids: a profile that holds only the second `latency` of another must call it so."""
    alone = parse("faults: [{latency: {ms: 5}, id: 'latency#2'}]", "p.yaml")
    assert [entry.id for entry in alone.entries] == ["latency#2"]
    with pytest.raises(ProfileError):
        parse("faults: [{latency: {ms: 5}, id: 'latency#0'}]", "p.yaml")
