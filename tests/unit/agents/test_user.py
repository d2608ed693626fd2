"""A user whose turns a model writes: what it is asked, when it ends, and what it may cost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from faultwire.agents._dial import HttpReply, NoReply
from faultwire.agents._request import Call
from faultwire.agents._user import AGENT, DONE, ModelUser, shown
from faultwire.errors import FaultwireError
from faultwire.mutations._kept import Kept

KEY = "sk-user-key-of-nobody"


class Endpoint:
    """Answers with these texts in turn, and keeps what it was asked."""

    def __init__(self, *texts: str, status: int = 200) -> None:
        self.texts, self.status = list(texts), status
        self.calls: list[Call] = []

    def __call__(self, call: Call) -> HttpReply:
        self.calls.append(call)
        text = self.texts.pop(0)
        document = {"choices": [{"message": {"content": text}}]} if self.status == 200 else {"error": text}
        return HttpReply(self.status, "", (), json.dumps(document).encode())


def user(endpoint: Any, folder: Path | None = None, **more: Any) -> ModelUser:
    return ModelUser("http://h/v1", "m", "a refund", endpoint, Kept(folder), api_key=KEY, **more)


def test_to_the_model_the_user_is_the_assistant_and_its_request_is_marked_as_ours() -> None:
    endpoint = Endpoint(" And when? ")
    one = user(endpoint, parameters={"seed": 7})
    assert one.next_turn([("I want a refund.", "Sure.")], 0) == "And when?"
    (call,) = endpoint.calls
    body = json.loads(call.body)
    assert (call.target, body["model"], body["seed"]) == ("/v1/chat/completions", "m", 7)
    system, *rest = body["messages"]
    assert "a refund" in system["content"]
    assert rest == [
        {"role": "assistant", "content": "I want a refund."}, {"role": "user", "content": "Sure."},
    ]  # fmt: skip
    assert dict(call.headers)["user-agent"] == AGENT
    assert dict(call.headers)["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("text", [DONE, f"{DONE}.", "  "])
def test_the_conversation_ends_where_the_user_has_nothing_more_to_say(text: str) -> None:
    assert user(Endpoint(text)).next_turn([("a", "b")], 0) is None
    assert user(Endpoint(f"I am {DONE}")).next_turn([("a", "b")], 0) == f"I am {DONE}"


def test_it_writes_no_more_turns_than_it_may() -> None:
    endpoint = Endpoint("one", "two")
    one = user(endpoint, turns=2)
    assert [one.next_turn([("a", "b")] * (1 + at), at) for at in range(3)] == ["one", "two", None]
    assert len(endpoint.calls) == 2


def test_what_it_wrote_is_kept_without_the_key_and_asked_for_once(tmp_path: Path) -> None:
    assert user(Endpoint("one"), tmp_path).next_turn([("a", "b")], 0) == "one"
    silent = Endpoint()
    again = user(silent, tmp_path, calls=1)
    assert again.next_turn([("a", "b")], 0) == "one"
    assert (again.asked, silent.calls) == (0, [])
    assert KEY not in "".join(path.read_text() + path.name for path in tmp_path.iterdir())
    with pytest.raises(IndexError):  # the control: another answer of the agent's is another question
        again.next_turn([("a", "c")], 0)


def test_the_budget_ends_the_run_with_the_reason() -> None:
    one = user(Endpoint("one", "two"), calls=1)
    one.next_turn([("a", "b")], 0)
    with pytest.raises(FaultwireError, match="was asked 1 times, and more turns are to come") as error:
        one.next_turn([("a", "c")], 0)
    assert error.value.exit_code == 3
    assert one.asked == 1


def test_a_model_that_fails_is_named_without_its_key() -> None:
    with pytest.raises(FaultwireError, match="answered HTTP 401") as error:
        user(Endpoint(f"bad key {KEY}", status=401)).next_turn([("a", "b")], 0)
    assert KEY not in str(error.value)
    assert KEY not in repr(user(Endpoint()))

    def nobody(_: Call) -> HttpReply:
        raise NoReply("did not answer")

    with pytest.raises(FaultwireError, match="did not answer"):
        user(nobody).next_turn([("a", "b")], 0)


def test_a_turn_is_one_line_in_a_report() -> None:
    assert shown(2, "m", "a\nb") == "faultwire: the user's turn 2, written by `m`: a b"
