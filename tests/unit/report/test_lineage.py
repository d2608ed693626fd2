from __future__ import annotations

import json

import pytest
from tests.unit.lineage.conftest import Wire
from tests.unit.report.conftest import play

from faultwire.events import History
from faultwire.report import html
from faultwire.report.lineage import EDGES, EXCHANGES, lineage_part, picture


def plain(text: str) -> str:
    return text


def orders(count: int = 2) -> History:
    wire = Wire()
    wire.get("/orders/last", {"order": "ORD-88123"})
    for at in range(count - 1):
        wire.get(f"/refunds/{at}/ORD-88123", {})
    return History("s", tuple(wire.exchanges))


def test_the_edges_with_their_words() -> None:
    part = lineage_part(orders(), plain)
    assert part is not None
    (edge,) = part["edges"]
    assert (edge["source"], edge["target"], edge["kind"]) == (1, 2, "exact")
    assert edge["words"].startswith("id `ORD-88123` of the body")
    json.dumps(part)


def test_secrets_in_the_evidence_are_redacted() -> None:
    part = lineage_part(orders(), lambda text: text.replace("ORD-88123", "[secret]"))
    assert "ORD-88123" not in json.dumps(part)


@pytest.mark.parametrize("count", [1, EXCHANGES + 1])
def test_invocations_without_a_second_exchange_or_with_too_many_have_none(count: int) -> None:
    assert lineage_part(orders(count), plain) is None


def test_a_picture_has_an_arc_for_each_pair_and_kind() -> None:
    part = lineage_part(orders(4), plain)
    assert part is not None
    drawn = picture(part)
    assert [row["number"] for row in drawn["rows"]] == [1, 2, 3, 4]
    assert len(drawn["arcs"]) == 3
    assert len({arc["path"] for arc in drawn["arcs"]}) == 3
    part["edges"] = [{**part["edges"][0], "target": None}]
    assert picture(part)["rows"][-1]["label"] == "the agent's output"


def test_no_more_edges_than_a_page_takes() -> None:
    part = lineage_part(orders(), plain)
    assert part is not None
    assert part["edges_not_shown"] == 0
    assert len(part["edges"]) <= EDGES


def test_the_page_shows_it_without_a_script_and_escaped() -> None:
    document = play()
    part = lineage_part(orders(), plain)
    assert part is not None
    part["edges"][0]["words"] = "<script>alert(1)</script> `ORD-88123`"
    for one in document["invocations"]:
        one["lineage"] = part
    page = html.render(document)
    assert '<svg class="lineage"' in page
    assert "<script" not in page
    assert "<code>ORD-88123</code>" in page
    for one in document["invocations"]:
        del one["lineage"]
    assert '<svg class="lineage"' not in html.render(document), "reports of earlier releases have none"
