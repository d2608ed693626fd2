"""What a controller looks at itself, and how it holds what it armed; a stand-in for the socket."""

from __future__ import annotations

import json
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from faultwire.cli import _controlled as controlled
from faultwire.errors import FaultwireError, UsageError
from faultwire.events import Exchange, Request, Response
from faultwire.tape.record.writer import TapeWriter


class Client:
    """Answers from a list, and keeps what it was asked."""

    def __init__(self, *answers: dict[str, Any]) -> None:
        self._answers = list(answers)
        self.asked: list[dict[str, Any]] = []

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(message)
        if not self._answers:
            raise ConnectionError("the control socket was closed")
        return self._answers.pop(0)


class Says:
    def __init__(self, why: str | None) -> None:
        self.why, self.closed = why, False

    def look(self) -> str | None:
        return self.why

    def close(self) -> None:
        self.closed = True


ARMED = {"interventions": [{"id": "a1", "state": "armed", "why": None}]}
ENDED = {"interventions": [{"id": "a1", "state": "disarmed", "why": controlled.OVER}]}


def test_it_is_held_until_the_engine_says_that_it_is_over() -> None:
    watch = Says(None)
    client = Client(ARMED, ENDED)
    end = controlled.hold(client, "a1", [watch], lambda: False, lambda _: None)  # type: ignore[arg-type]
    assert end["why"] == controlled.OVER
    assert watch.closed
    assert [one["op"] for one in client.asked] == ["hold", "hold"]


def test_one_that_the_engine_lists_no_more_is_over() -> None:
    end = controlled.hold(Client({"interventions": []}), "a1", [], lambda: False)  # type: ignore[arg-type]
    assert end == {"id": "a1", "why": "it was forgotten", "state": "disarmed"}


def test_a_watch_aborts_at_once() -> None:
    client = Client(ARMED, {"id": "a1", "state": "disarmed", "why": "aborted: too dear"})
    end = controlled.hold(client, "a1", [Says(None), Says("too dear")], lambda: False)  # type: ignore[arg-type]
    assert client.asked[-1] == {"op": "disarm", "id": "a1", "why": "aborted: too dear"}
    assert end["why"] == "aborted: too dear"


def test_a_signal_disarms() -> None:
    client = Client({"id": "a1", "state": "disarmed", "why": "its controller was stopped"})
    controlled.hold(client, "a1", [], lambda: True)  # type: ignore[arg-type]
    assert client.asked == [{"op": "disarm", "id": "a1", "why": "its controller was stopped"}]


def test_a_proxy_that_is_gone_is_an_error() -> None:
    watch = Says(None)
    with pytest.raises(FaultwireError, match="does not answer"):
        controlled.hold(Client(), "a1", [watch], lambda: False)  # type: ignore[arg-type]
    assert watch.closed


def test_the_engines_own_error_is_kept() -> None:
    refused = {"error": {"code": "control.radius", "message": "too much", "hint": None, "exit_code": 2}}
    with pytest.raises(UsageError, match="too much") as raised:
        controlled.ask(Client(refused), op="arm")  # type: ignore[arg-type]
    assert raised.value.code == "control.radius"


def looked(watch: controlled.Health) -> str | None:
    """Look until the command has ended."""
    while True:
        why = watch.look()
        if why is not None or watch._running is None:
            return why
        watch._running.wait()


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (f"{sys.executable} -c pass", None),
        (f"{sys.executable} -c 'raise SystemExit(7)'", "the health command exited 7"),
        ("/nowhere/at/all", "the health command cannot be run: No such file or directory"),
    ],
)
def test_health(command: str, why: str | None) -> None:
    watch = controlled.Health(command, 0.1, 30)
    assert looked(watch) == why
    watch.close()


def test_a_health_command_that_takes_too_long_has_failed_and_is_ended() -> None:
    watch = controlled.Health(f"{sys.executable} -c 'input()'", 0.1, 0.0)
    watch.look()
    assert watch.look() == "the health command took over 0 s"
    running = watch._running
    assert running is not None
    watch.close()
    assert running.poll() == -9


def test_an_empty_command_is_refused() -> None:
    with pytest.raises(UsageError, match="empty command"):
        controlled.Health(" ", 1, 1)


def recorded(folder: Path, model: str, answers: int) -> controlled.Place:
    """A tape with calls to a model, and the journal of a proxy beside it."""
    place = controlled.Place(folder, folder / "control.sock", folder / "t.tape")
    journal = folder / "events.jsonl"
    journal.touch()
    writer = TapeWriter.create(place.tape, origin="p/t", settings={})
    writer.open_session("proxy", profile="", profile_digest="", seed=1)
    said = {
        "model": model,
        "usage": {"prompt_tokens": 1000, "completion_tokens": 1000},
        "object": "chat.completion",
    }
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hi"}}
    body = json.dumps({**said, "id": "c", "choices": [choice]}).encode()
    asked = json.dumps({"model": model, "messages": [{"role": "user", "content": "hi"}]}).encode()
    kind = (("content-type", "application/json"),)
    for number in range(1, answers + 1):
        request = Request("POST", "https", "api.openai.com", 443, "/v1/chat/completions", kind, asked)
        exchange = Exchange("proxy", number, request, "llm", "openai_chat", "openai")
        one = writer.record(exchange)
        one.request(request)
        one.upstream_head(Response(200, "OK", kind))
        one.upstream_chunk(body)
        one.end("complete", None, ())
    writer.flush()
    writer.close_session("proxy")
    writer.close()
    return place


def acknowledge(place: controlled.Place, *numbers: int) -> None:
    lines = [json.dumps({"type": "acknowledged", "session": "proxy", "exchange": one}) for one in numbers]
    with (place.folder / "events.jsonl").open("a") as journal:
        journal.write("\n".join(lines) + "\n")


def test_costs_count_from_the_arming_on(tmp_path: Path) -> None:
    place = recorded(tmp_path, "gpt-4o", 3)
    acknowledge(place, 1)
    watch = controlled.Cost(place, Decimal("0.02"))
    assert watch.look() is None
    acknowledge(place, 2)
    assert watch.look() is None
    assert 0 < watch.total <= Decimal("0.02")
    acknowledge(place, 3)
    why = watch.look()
    assert why is not None
    assert why.startswith("models cost 0.02")
    assert why.endswith("allowed are 0.02")
    watch.close()


def test_a_cost_that_nobody_knows_aborts(tmp_path: Path) -> None:
    place = recorded(tmp_path, "unheard-of-1", 1)
    watch = controlled.Cost(place, Decimal(100))
    acknowledge(place, 1)
    assert watch.look() == "the cost of a call to the model `unheard-of-1` is not known"
    watch.close()


def test_no_running_proxy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = tmp_path / ".faultwire" / "runs" / "r1"
    run.mkdir(parents=True)
    about = {"command": "proxy", "status": "finished", "control": "/nowhere", "tape": "t"}
    (run / "run.json").write_text(json.dumps(about))
    with pytest.raises(UsageError, match="no running proxy"):
        controlled.find(None)
    with pytest.raises(UsageError, match="no proxy in the run `r9`"):
        controlled.find("r9")
