import json

import jsonschema
import pytest

from faultwire.report import _exchange_shape, _numbers_shape, schema as module_schema
from faultwire.report.schema import problems, problems_of, schema

VALIDATOR = jsonschema.Draft202012Validator(schema())


def as_read(document):
    return json.loads(json.dumps(document))


def test_the_schema_is_one_of_2020_12():
    assert schema()["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema.Draft202012Validator.check_schema(schema())


def test_a_report_is_valid_by_the_schema_and_by_the_models(make_document):
    before = make_document(answer_cut="391!")
    for document in (before, make_document(before=before, trend=[{"id": "a", "score": 1.0}], timed_out=True)):
        VALIDATOR.validate(as_read(document))
        assert problems(document) == []


def changed(document, path, value):
    found = document
    for key in path[:-1]:
        found = found[key]
    if value is ...:
        del found[path[-1]]
    else:
        found[path[-1]] = value
    return document


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("schema",), "other"),
        (("version",), "2"),
        (("version",), 1),
        (("extra",), 1),
        (("score",), ...),
        (("run", "seed"), "42"),
        (("run", "seed"), 1.5),
        (("score", "value"), 101.0),
        (("score", "gate"), "great"),
        (("score", "cells", "pass"), -1),
        (("cells", 0, "verdict"), "maybe"),
        (("cells", 0, "more"), 1),
        (("invocations", 0, "exchanges", 0, "kind"), "mail"),
        (("invocations", 0, "exchanges", 0, "request", "headers"), [["name"]]),
        (("statistics", "scenarios", 0, "low"), 1.5),
        (("statistics", "k"), None),
        (("trend",), ...),
        (("prompts", 0, "text"), None),
    ],
)
def test_both_validators_find_the_same_problems(make_document, path, value):
    document = changed(as_read(make_document()), path, value)
    said = problems(document)
    assert len(said) == 1
    assert str(path[0]) in said[0]
    assert list(VALIDATOR.iter_errors(document)) != []


def test_numbers_that_json_does_not_know_are_refused(make_document):
    document = make_document()
    document["run"]["duration_s"] = float("nan")
    assert problems(document) != []
    assert problems_of('{"a": NaN}') != []


def test_invalid_json_is_reported():
    assert len(problems_of("{")) == 1


def test_the_number_of_problems_is_limited(make_document):
    document = as_read(make_document())
    document["cells"] = [{"x": 1}] * 100
    assert len(problems(document)) == 20


@pytest.mark.parametrize("module", [_exchange_shape, _numbers_shape, module_schema])
def test_every_part_states_what_it_is(module):
    parts = [v for v in vars(module).values() if isinstance(v, type) and issubclass(v, _exchange_shape.Part)]
    assert parts
    described = schema()["$defs"]
    for part in parts:
        assert part.__doc__
        assert part.__name__ not in described or described[part.__name__]["description"]
        assert part.__name__ not in described or described[part.__name__]["additionalProperties"] is False
