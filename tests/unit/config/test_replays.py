"""`faultwire.config.replays`: where incident sessions are."""

from __future__ import annotations

import pytest

from faultwire.config.model import Source, SourceFilter
from faultwire.config.replays import KEYS


def test_sessions_by_file_by_folder_and_inline(config, tmp_path):
    (tmp_path / "replays").mkdir()
    (tmp_path / "replays" / "one.yaml").write_text("id: a")
    found = config(
        "replays:\n  sessions:\n    - {file: replays/one.yaml}\n    - replays\n"
        "    - {id: inc-1, input: hello, tool_responses: [{tool: t, response: null, status: 504}]}\n"
    ).replays
    assert found.sessions == (
        {"file": str(tmp_path / "replays" / "one.yaml")},
        {"file": str(tmp_path / "replays")},
        {
            "id": "inc-1",
            "input": "hello",
            "tool_responses": [{"tool": "t", "response": None, "status": 504}],
        },
    )


def test_sources(config):
    found = config(
        "replays: {sources: [{type: langsmith, project: p, filter: {status: all, min_latency_ms: 5}, "
        "auto_import: true}, {type: langsmith_run, run_id: r}, {type: langsmith, project: q, filter: null}]}"
    ).replays
    assert found.sources == (
        Source(
            type="langsmith",
            project="p",
            filter=SourceFilter(status="all", min_latency_ms=5),
            auto_import=True,
        ),
        Source(type="langsmith_run", run_id="r"),
        Source(type="langsmith", project="q"),
    )


def test_an_empty_section_is_empty(config):
    assert config("replays:").replays is None
    found = config("replays: {}").replays
    assert (found.sessions, found.sources) == ((), ())


def test_unknown_keys_are_warnings(warned):
    text = (
        "replays: {session: [], sessions: [{id: a, input: b, inptu: c}], "
        "sources: [{type: langsmith, project: p, fliter: {}, filter: {sttus: all}}]}"
    )
    said = warned(text)
    assert [line.split(": ", 1)[1].split(" is ")[0] for line in said] == [
        "`session`",
        "`inptu`",
        "`fliter`",
        "`sttus`",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("replays: 3", "found `3` for `replays`, expected a mapping"),
        ("replays: {sessions: {}}", "found a mapping for `sessions`, expected a list"),
        ("replays: {sessions: [3]}", "found `3` for a session, expected a mapping"),
        ("replays: {sessions: [{id: a}]}", "found a session without `input`, expected a `file`, or `id` and"),
        (
            "replays: {sessions: [{file: no.yaml}]}",
            "not_found: found no file at `no.yaml`, expected a session",
        ),
        ('replays: {sessions: ["a\\0b"]}', "found"),
        ("replays: {sessions: [{file: [a]}]}", "found a list for `file`, expected a path"),
        (
            "replays: {sources: [{type: langsmth}]}",
            "found `langsmth` for `sources.type`, expected `langsmith`",
        ),
        ("replays: {sources: [{type: langsmith}]}", "found no `project` in the source, expected one for"),
        ("replays: {sources: [{type: langsmith_run}]}", "found no `run_id` in the source, expected one for"),
        (
            "replays: {sources: [{type: langsmith, project: p, filter: {status: bad}}]}",
            "found `bad` for `filter.status`, expected `error`, `warning` or `all`",
        ),
        (
            "replays: {sources: [{type: langsmith, project: p, filter: {min_latency_ms: -1}}]}",
            "found `-1` for `filter.min_latency_ms`, expected an integer from 0 up",
        ),
    ],
)
def test_what_is_refused(refused, text, said):
    (found,) = refused(text)
    assert said in found


def test_the_keys():
    assert KEYS == ("sessions", "sources")
