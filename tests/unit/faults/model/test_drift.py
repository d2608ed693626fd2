from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from faultwire.faults.model import _drift
from faultwire.faults.model.drift import Drift

DATA = '{"action": "buy", "order_id": 7, "totalPrice": 9.5, "tags": ["a"]}'
PROSE = "I am sure. It is done. You will not need more."


@pytest.mark.parametrize(("severity", "count"), [("subtle", 1), ("moderate", 2), ("significant", 4)])
def test_keys_get_other_names_and_values_stay(severity, count):
    made = json.loads(_drift.renamed(DATA, severity))
    before = json.loads(DATA)
    assert len(set(before) - set(made)) == count
    assert list(made.values()) == list(before.values())


def test_names_as_another_version_would_choose_them():
    assert list(json.loads(_drift.renamed(DATA, "significant"))) == [
        "tool_name",
        "orderId",
        "total_price",
        "tags_v2",
    ]
    fenced = f"```json\n{DATA}\n```"
    assert _drift.renamed(fenced, "subtle").startswith('```json\n{"tool_name"')
    assert _drift.renamed(PROSE, "significant") == PROSE


def test_more_and_fewer_words():
    assert len(_drift.reworded(PROSE, "expand", 3)) >= 3 * len(PROSE)
    assert _drift.reworded(PROSE, "compress", 3) == "I am sure."
    assert _drift.reworded(DATA, "compress", 3) == DATA


def test_another_format():
    assert json.loads(_drift.reformatted(DATA, "subtle").strip("`json\n")) == json.loads(DATA)
    with pytest.raises(json.JSONDecodeError):
        json.loads(_drift.reformatted(DATA, "moderate"))
    assert "order id: 7" in _drift.reformatted(DATA, "significant")
    assert _drift.reformatted(PROSE, "subtle").splitlines()[0] == "- I am sure."


def test_hedges_and_refusals_and_tone():
    assert _drift.declined(PROSE, "subtle").endswith(PROSE)
    assert "It is done" not in _drift.declined(PROSE, "moderate")
    assert "sure" not in _drift.declined(PROSE, "significant")
    assert _drift.retoned(PROSE, "subtle").startswith("Sure! I'm sure.")
    assert _drift.retoned(DATA, "significant") == DATA
    assert _drift.declined("", "significant") == ""


@pytest.mark.parametrize(
    "kind", ["json_field_rename", "verbosity_shift", "format_change", "refusal_rephrase", "tone_shift"]
)
def test_whole_and_streamed(model, said, text_stream, kind):
    text = DATA if kind in ("json_field_rename", "format_change") else PROSE
    view, effect, _ = model(Drift(type=kind), said(text))
    assert view.text == Drift(type=kind).drifted(text)
    assert view.text != text
    assert effect == "answer told as another version would"
    if kind != "json_field_rename":
        assert model(Drift(type=kind), text_stream)[1] == effect


def test_settings_belong_to_their_type():
    with pytest.raises(ValidationError, match="only `verbosity_shift` takes"):
        Drift(type="tone_shift", factor=3)
    with pytest.raises(ValidationError):
        Drift(type="verbosity_shift", factor=1)
