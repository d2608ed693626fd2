import json

import pytest

from faultwire.errors import UsageError
from faultwire.report import html, json as as_json, junit, load, markdown


@pytest.fixture
def written(make_document, tmp_path):
    def write(change=lambda document: None):
        document = json.loads(json.dumps(make_document()))
        change(document)
        (tmp_path / "report.json").write_text(as_json.render(document))
        return tmp_path

    return write


def test_every_face_of_what_is_read_back_is_that_of_what_was_written(written, make_document):
    document = make_document()
    read = load.load(written())
    assert read == json.loads(json.dumps(document)) == load.load(written() / "report.json")
    for face in (html, junit, markdown, as_json):
        assert face.render(read) == face.render(document)


@pytest.mark.parametrize(
    ("change", "code", "told"),
    [
        (lambda d: d.update(version="2"), "report.foreign", "has version `2`, expected `1`"),
        (lambda d: d.pop("version"), "report.foreign", "has version `None`"),
        (lambda d: d.update(schema="other"), "report.foreign", "found the schema `other`, expected"),
        (lambda d: d.pop("cells"), "report.invalid", "cells: Field required"),
        (lambda d: d["score"].update(value="100"), "report.invalid", "score.value"),
        (lambda d: d["invocations"].pop(), "report.invalid", "no invocation is named `stream_chaos/p1/r1`"),
        (lambda d: d["scenarios"].pop(0), "report.invalid", "no scenario is named `calm`"),
    ],
)
def test_another_kind_or_shape_is_refused(written, change, code, told):
    with pytest.raises(UsageError) as caught:
        load.load(written(change))
    assert caught.value.code == code
    assert told in caught.value.message
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    "text", ["", "[]", '"faultwire-report"', "{", "\x00", "[" * 100_000, '{"schema": NaN}', "\udcff"]
)
def test_a_non_report_is_refused(tmp_path, text):
    (tmp_path / "report.json").write_text(text, errors="surrogateescape")
    with pytest.raises(UsageError) as caught:
        load.load(tmp_path)
    assert caught.value.code in ("report.invalid", "report.foreign")


def test_a_missing_report_is_an_error(tmp_path):
    for path in (tmp_path, tmp_path / "none.json"):
        with pytest.raises(UsageError) as caught:
            load.load(path)
        assert caught.value.code == "report.missing"


def test_an_oversized_report_is_not_read(tmp_path):
    with (tmp_path / "report.json").open("wb") as file:
        file.truncate(load.LARGEST + 1)
    with pytest.raises(UsageError) as caught:
        load.load(tmp_path)
    assert caught.value.code == "report.unreadable"


def test_an_unreadable_report_is_reported(tmp_path):
    (tmp_path / "report.json").mkdir()
    with pytest.raises(UsageError) as caught:
        load.load(tmp_path)
    assert caught.value.code == "report.unreadable"
