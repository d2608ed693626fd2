"""The faces of the red-team report: a page, SARIF, JSON and Markdown."""

from __future__ import annotations

import pytest
from tests.unit.report.test_redteam import CANARY, OBEYED, SAYS, attack, session

from faultwire.errors import UsageError
from faultwire.faults.attack._library import registry
from faultwire.report.redteam import document
from faultwire.report.redteam_faces import face_of, render, sarif

ASKS = registry()["direct"].payloads[0]


def test_sarif_has_a_rule_for_each_family_and_a_result_for_each_finding():
    found = document([OBEYED, session(attack(ASKS), name="u")])
    log = sarif(found)
    (run,) = log["runs"]
    rules = [one["id"] for one in run["tool"]["driver"]["rules"]]
    assert rules == ["attack/override", "attack/direct"]
    (result,) = run["results"]
    assert rules[result["ruleIndex"]] == result["ruleId"] == "attack/override"
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "run.tape"
    assert "LLM01:2025" in run["tool"]["driver"]["rules"][0]["properties"]["tags"]
    again = sarif(document([OBEYED]))["runs"][0]["results"][0]
    assert again["partialFingerprints"] == result["partialFingerprints"]
    other = sarif(document([session(attack(registry()["override"].payloads[1]), answer=CANARY)]))
    assert other["runs"][0]["results"][0]["partialFingerprints"] != result["partialFingerprints"]


@pytest.mark.parametrize("face", ["html", "json", "sarif", "md"])
def test_every_face_shows_the_finding_and_what_was_not_tried(face):
    text = render(document([OBEYED]), face)
    assert SAYS.name in text
    assert "shadowing" in text


def test_a_page_escapes_what_came_from_the_wire():
    hostile = session(attack(SAYS, number=1, tool="<script>alert(1)</script>"), answer=CANARY)
    page = render(document([hostile]), "html")
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert page.isascii() or "charset" in page


def test_a_files_ending_says_its_format(tmp_path):
    assert face_of(tmp_path / "a.sarif") == "sarif"
    with pytest.raises(UsageError, match=r"expected a name that ends in \.html, \.json, \.sarif, \.md"):
        face_of(tmp_path / "a.txt")
