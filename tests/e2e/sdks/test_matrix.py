"""SDKs of five languages: what they send is on the tape, each fault meets its call, and the page says so."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.e2e.netns.conftest import Outside, Unable
from tests.e2e.sdks import matrix, page

import outcomes  # isort: skip  # its folder is on the path since the imports above

PAST = "went past the proxy: "


@pytest.fixture(scope="module")
def where() -> Iterator[Outside]:
    try:
        with matrix.outside() as made:
            yield made
    except Unable as reason:
        pytest.skip(str(reason))


@pytest.mark.by_day("Pool-variables", "Pool-netns", "aiohttp")
@pytest.mark.parametrize("way", matrix.WAYS)
@pytest.mark.parametrize("name", matrix.ROWS)
def test_each_call_is_recorded_or_counted_and_shows_its_fault(name: str, way: str, where: Outside) -> None:
    row = matrix.ROWS[name]
    seen = matrix.run(where, row, way)
    asked = matrix.cases(row)
    assert list(seen.answers) == asked or sorted(seen.answers) == sorted(asked), seen.stderr
    if way == "variables" and not row.honours:
        assert (seen.taped, seen.strangers) == (0, 0), seen.stderr
        assert seen.past > 0
        assert PAST in seen.stderr
    elif row.pinned:
        assert (seen.taped, seen.past) == (0, 0), seen.stderr
        assert "refused faultwire's certificate" in seen.stderr
        assert all("error" in one for one in seen.answers.values())
    else:
        assert (seen.taped, seen.past) == (len(asked), 0), seen.stderr
        assert PAST not in seen.stderr
        for case in asked:
            column = case.partition("/")[2]
            assert seen.fired[case] == (set() if column == "calm" else {matrix.entry(column)}), case
            if column in ("503", "429", "401", "reset"):
                assert "error" in seen.answers[case], case
            if column == "calm":
                assert seen.answers[case].get("text"), case
    said, _ = page.read(outcomes.DOC.read_text())
    assert matrix.cells(row, seen) == said[name][way], "the page says otherwise"
