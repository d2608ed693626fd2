import json

import pytest

from faultwire.report.document import SCHEMA, VERSION, document

SHAPE = {
    "schema": str,
    "version": str,
    "generator": {"name": str, "version": str},
    "run": {
        "id": str,
        "command": str,
        "agent": str,
        "seed": int,
        "concurrency": int,
        "started_at": str,
        "duration_s": float,
        "ledger": str,
        "tapes": [str],
        "notes": list,
    },
    "score": {
        "value": float,
        "gate": str,
        "cells": {"pass": int, "fail": int, "unknown": int},
        "critical_failed": int,
        "weights": {"critical": int, "high": int, "medium": int, "low": int},
        "clean_invocations": {
            "passed": int,
            "total": int,
            "low": float,
            "high": float,
            "confidence": float,
            "rate": float,
            "method": str,
        },
    },
    "scenarios": [{"name": str, "profile": str, "description": str, "digest": str, "entries": list}],
    "prompts": [{"id": str, "text": str}],
    "invariants": [
        {
            "id": str,
            "type": str,
            "severity": str,
            "when": str,
            "negate": bool,
            "description": str,
            "settings": dict,
        }
    ],
    "cells": [
        {
            "invariant": str,
            "severity": str,
            "scenario": str,
            "invocation": str,
            "verdict": str,
            "explanation": str,
            "exchanges": list,
        }
    ],
    "invocations": [
        {
            "id": str,
            "scenario": str,
            "prompt": str,
            "repeat": int,
            "answer": str,
            "stderr": str,
            "voids": list,
            "notes": list,
            "exit_code": int,
            "timed_out": bool,
            "duration_s": float,
            "exchanges": list,
            "exchanges_not_shown": int,
        }
    ],
}


def shaped(value, shape, path="$"):
    """Does a value have exactly this shape?"""
    if isinstance(shape, dict):
        assert list(value) == list(shape), path
        for key, inner in shape.items():
            shaped(value[key], inner, f"{path}.{key}")
    elif isinstance(shape, list):
        assert value, path
        for item in value:
            shaped(item, shape[0], f"{path}[]")
    else:
        assert isinstance(value, shape), path


def test_version_1_has_this_shape(make_document):
    document = json.loads(json.dumps(make_document()))
    assert (document["schema"], document["version"]) == (SCHEMA, VERSION) == ("faultwire-report", "1")
    shaped(document, SHAPE)


def test_score_and_cells(make_document):
    document = make_document()
    assert (document["score"]["value"], document["score"]["gate"]) == (83.33, "fail")
    assert [(c["invocation"], c["invariant"], c["verdict"]) for c in document["cells"]] == [
        ("calm/p1/r1", "completes", "pass"),
        ("calm/p1/r1", "says_391", "pass"),
        ("calm/p1/r1", "no_retry_storm", "pass"),
        ("stream_chaos/p1/r1", "completes", "pass"),
        ("stream_chaos/p1/r1", "says_391", "fail"),
        ("stream_chaos/p1/r1", "no_retry_storm", "pass"),
    ]


def test_instants_are_only_in_keys_that_say_so(make_document, make_recorded):
    """What `same seed, same report` leaves out."""

    def untimed(value):
        if isinstance(value, dict):
            return {k: untimed(v) for k, v in value.items() if not k.endswith(("_at", "_ms", "_s"))}
        return [untimed(v) for v in value] if isinstance(value, list) else value

    left = json.dumps(untimed(make_document()))
    assert "2026-11-21T22:00" not in left
    assert "0.61" not in left
    assert "60.0" not in left


def test_long_answers_are_cut(make_document):
    document = make_document(answer_calm="391" + "x" * 1_000_000)
    answer = document["invocations"][0]["answer"]
    assert len(answer) < 17_000
    assert answer.endswith("more characters]")


def test_what_the_agent_printed_is_redacted(make_document):
    from faultwire.report import document as module

    seen = []

    def redact(text):
        seen.append(text)
        return text.replace("sk-secret", "redacted")

    made = make_document(answer_calm="391 sk-secret", stderr="key sk-secret", redact=redact)
    assert "sk-secret" not in json.dumps(made)
    assert "391 redacted" in json.dumps(made)
    assert module.ANSWER > 0


def test_nobody_forgets_to_redact():
    with pytest.raises(TypeError, match="redact"):
        document(None, [], [], [], None, [])
