import re
import xml.etree.ElementTree as ET

import pytest
from tests.unit.report.hostile import EVERY, everywhere

from faultwire.report.junit import render

WHOLE = re.compile(r"\d+")
SECONDS = re.compile(r"\d+\.\d{3}")
TOKEN = re.compile(r"\S(.*\S)?")
TEXT = re.compile(r"(?s).*")
ATTRIBUTES = {
    "testsuites": {},
    "testsuite": {
        "name": TOKEN,
        "package": TOKEN,
        "id": WHOLE,
        "timestamp": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"),
        "hostname": TOKEN,
        "tests": WHOLE,
        "failures": WHOLE,
        "errors": WHOLE,
        "skipped": WHOLE,
        "time": SECONDS,
    },
    "properties": {},
    "property": {"name": TOKEN, "value": TEXT},
    "system-out": {},
    "system-err": {},
    "testcase": {"name": TOKEN, "classname": TOKEN, "time": SECONDS},
    "failure": {"message": TEXT, "type": TEXT},
    "skipped": {"message": TEXT},
}
"""What the schemas of Apache Ant (windyroad/JUnit-Schema) and Jenkins (xunit-plugin, junit-10) both take."""
CHILDREN = {
    "testsuites": re.compile(r"(testsuite )*"),
    "testsuite": re.compile(r"properties (testcase )*system-out system-err "),
    "properties": re.compile(r"(property )*"),
    "testcase": re.compile(r"(failure |skipped )?"),
}


def check(element):
    """Is an element, and all that is in it, as the schemas say?"""
    attributes = ATTRIBUTES[element.tag]
    assert set(element.attrib) == set(attributes), element.tag
    for name, pattern in attributes.items():
        assert pattern.fullmatch(element.attrib[name]), (element.tag, name, element.attrib[name])
    inside = "".join(f"{child.tag} " for child in element)
    assert CHILDREN.get(element.tag, re.compile("")).fullmatch(inside), (element.tag, inside)
    for child in element:
        check(child)


def read(document):
    root = ET.fromstring(render(document))
    check(root)
    return root


def test_there_is_a_suite_for_each_scenario_and_a_case_for_each_cell(make_document):
    calm, chaos, _ = read(make_document())
    assert (calm.attrib["name"], calm.attrib["tests"], calm.attrib["failures"]) == ("calm", "3", "0")
    assert (chaos.attrib["name"], chaos.attrib["tests"], chaos.attrib["failures"]) == (
        "stream_chaos",
        "3",
        "1",
    )
    assert [case.attrib["name"] for case in chaos.iter("testcase")] == [
        "completes · p1/r1", "says_391 · p1/r1", "no_retry_storm · p1/r1",
    ]  # fmt: skip


def test_a_failure_has_its_reason_and_traffic(make_document):
    failure, _ = read(make_document()).iter("failure")
    assert failure.attrib == {"message": "`391` is not in the answer `17 times`", "type": "says_391"}
    assert "invocation: stream_chaos/p1/r1" in failure.text
    assert "faults that fired: cut_stream" in failure.text
    assert "answer: 17 times" in failure.text


def test_what_is_unknown_is_skipped_with_its_reason(make_document):
    document = make_document()
    document["cells"][1] |= {"verdict": "unknown", "explanation": "no fault fired"}
    root = read(document)
    (skipped,) = root.iter("skipped")
    assert skipped.attrib == {"message": "no fault fired"}
    assert root[0].attrib["skipped"] == "1"


def test_a_critical_invariant_without_any_cell_is_a_case_of_its_own(make_document):
    document = make_document()
    row = {"severity": "critical", "when": "no_chaos", "why": "`a` is judged nowhere", "hint": "add `calm`"}
    document["score"]["unjudged"] = [
        row | {"invariant": "a", "cells": 0},
        row | {"invariant": "b", "cells": 2},  # whose cells are skipped where they are
    ]
    suite = read(document)[2]
    assert (suite.attrib["name"], suite.attrib["tests"], suite.attrib["skipped"]) == (
        "never judged",
        "1",
        "1",
    )
    (skipped,) = suite.iter("skipped")
    assert skipped.attrib["message"] == "`a` is judged nowhere; add `calm`"


def test_the_verdict_of_the_run_is_a_case_that_fails_with_it(make_document):
    gate = read(make_document())[2]
    assert (gate.attrib["name"], gate.attrib["tests"], gate.attrib["failures"]) == ("gate", "1", "1")
    (failure,) = gate.iter("failure")
    assert failure.attrib == {"message": "1 cell failed", "type": "fail"}
    assert gate.find("testcase").attrib["name"] == "every cell must pass"


@pytest.mark.parametrize("word", ["pass", "fail", "unknown"])
def test_a_file_without_failures_is_a_run_that_passed(make_document, word):
    """A CI system that reads this file alone comes to the verdict that the exit code says."""
    document = make_document()
    document["score"] |= {"gate": word, "rule": "every score must be at least 80.00", "reasons": []}
    root = read(document)
    assert bool(list(root.iter("failure"))) == (word != "pass")
    counted = sum(int(suite.attrib["failures"]) for suite in root)
    assert counted == len(list(root.iter("failure")))
    if word == "pass":
        (skipped,) = root.iter("skipped")
        allowed = "failed, which the rule of the run allows: `391` is not in the answer `17 times`"
        assert skipped.attrib["message"] == allowed


def test_properties_lead_to_the_evidence(make_document):
    properties = {p.attrib["name"]: p.attrib["value"] for p in read(make_document())[0].iter("property")}
    assert properties == {
        "run": "20261121T220000Z-00aa",
        "seed": "42",
        "ledger": "ab" * 32,
        "tape": "run.tape",
        "score": "25.00",
        "gate": "fail",
    }


def test_the_time_of_an_invocation_is_counted_once(make_document):
    calm = read(make_document())[0]
    assert calm.attrib["time"] == "0.610"
    assert [case.attrib["time"] for case in calm.iter("testcase")] == ["0.610", "0.000", "0.000"]


def test_a_run_without_cells_is_valid(make_document):
    document = make_document()
    document["cells"], document["score"]["number"] = [], None
    assert [suite.attrib["tests"] for suite in read(document)] == ["0", "0", "1"]


@pytest.mark.parametrize("text", EVERY)
def test_hostile_text_leaves_the_xml_whole(make_document, text):
    root = read(everywhere(make_document(), text))
    assert len(list(root.iter("testcase"))) == 6 + 1 + 1  # the cells, what was never judged, the gate
    assert len(list(root.iter("failure"))) == 1 + 1


def test_the_check_can_fail(make_document):
    text = render(make_document())
    for wrong in (text.replace(' hostname="localhost"', ""), text.replace("<system-out />", "")):
        with pytest.raises(AssertionError):
            check(ET.fromstring(wrong))
