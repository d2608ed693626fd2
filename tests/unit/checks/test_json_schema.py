import pytest

from faultwire.checks._schema import checked, problem
from faultwire.checks.json_schema import JsonSchema

SHAPE = {"type": "object", "required": ["answer"], "properties": {"answer": {"type": "integer"}}}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ('{"answer": 391}', "pass"),
        ('{"answer": "391"}', "fail"),
        ("{}", "fail"),
        ("391 it is", "fail"),
        ("[" * 5000, "fail"),
        ('{"answer": 1e400}', "fail"),
    ],
)
def test_verdicts(verdict, answer, expected):
    assert verdict(JsonSchema(schema=SHAPE), answer=answer).verdict == expected


def test_it_names_the_place(verdict):
    found = verdict(
        JsonSchema(schema={"items": {"properties": {"n": SHAPE}}}), answer='[{"n": {"answer": 1}}, {"n": 2}]'
    )
    assert found.explanation == "at `$[1].n`: 2 is not of type 'object'"


def test_a_schema_that_cannot_be_applied_is_unknown(verdict):
    for elsewhere in ("https://example.invalid/schema.json", "#/$defs/none", "file:///etc/passwd"):
        assert verdict(JsonSchema(schema={"$ref": elsewhere}), answer="1").verdict == "unknown"


def test_patterns_are_linear(verdict):
    schema = {"patternProperties": {"^(a+)+$": {"type": "string", "pattern": "^(b+)+$"}}}
    long = '{"%s": "%s"}'
    assert verdict(JsonSchema(schema=schema), answer=long % ("a" * 9000, "b" * 9000 + "!")).verdict == "fail"
    assert verdict(JsonSchema(schema=schema), answer=long % ("a" * 9000 + "!", 1)).verdict == "pass"


@pytest.mark.parametrize(
    "schema", [{"type": "strange"}, {"pattern": "("}, {"properties": {"a": {"pattern": r"(a)\1"}}}]
)
def test_what_is_no_schema_is_refused(schema):
    with pytest.raises(ValueError, match="schema"):
        JsonSchema(schema=schema)


def test_schemas_are_checked_once_and_applied_often():
    assert problem(checked({"const": True}), True) is None
    assert problem({"const": True}, 1) is not None


def test_bottomless_schemas_are_refused():
    schema: dict = {}
    for _ in range(70):
        schema = {"not": schema}
    with pytest.raises(ValueError, match="64 levels"):
        checked(schema)
