from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

import pytest

from faultwire.errors import FaultwireError
from faultwire.mitm.engine.pool import EnginePool


@dataclass
class Engine:
    """What a pool knows of an engine."""

    exit_code: int | None = None
    open: set[str] = field(default_factory=set)
    refuses: bool = False

    def open_session(self, name: str, *_: Any, **__: Any) -> str:
        if self.refuses:
            raise FaultwireError("no", code="engine.session")
        self.open.add(name)
        return name

    def close_session(self, name: str, *_: Any) -> str:
        self.open.remove(name)  # raises where the session is of another engine
        return name

    def notes(self) -> tuple[str, ...]:
        return ("the same",)


def pool(*engines: Engine) -> EnginePool:
    return EnginePool(engines)  # type: ignore[arg-type]


def opened(made: EnginePool, name: str, **more: Any) -> None:
    made.open_session(name, {}, 1, **more)


def test_a_session_is_placed_on_the_engine_with_the_fewest_open_ones() -> None:
    one, two = Engine(), Engine()
    made = pool(one, two)
    for name in "abcd":
        opened(made, name)
    assert (one.open, two.open) == ({"a", "c"}, {"b", "d"})
    made.close_session("b")
    made.close_session("d")
    opened(made, "e")
    opened(made, "f")
    assert (one.open, two.open) == ({"a", "c"}, {"e", "f"})
    assert [made.number_of(name) for name in "abcdef"] == [0, 1, 0, 1, 1, 1]


def test_a_session_that_was_refused_takes_no_place() -> None:
    one, two = Engine(refuses=True), Engine()
    made = pool(one, two)
    for _ in range(3):
        with pytest.raises(FaultwireError):
            opened(made, "a")
    one.refuses = False
    opened(made, "b")
    opened(made, "c")
    assert (one.open, two.open) == ({"b"}, {"c"})


def test_sessions_of_a_shared_user_are_where_the_user_is() -> None:
    one, two = Engine(), Engine()
    made = pool(one, two)
    for name in "abc":
        opened(made, name, via="server")
    assert (one.open, two.open) == ({"a", "b", "c"}, set())


def test_no_session_is_opened_once_an_engine_has_ended() -> None:
    one, two = Engine(), Engine()
    made = pool(one, two)
    opened(made, "a")
    assert made.lost() is None
    two.exit_code = -9
    with pytest.raises(FaultwireError, match="engine 2 of 2 ended with code `-9`") as caught:
        opened(made, "b")
    assert caught.value.code == "engine.lost"
    assert "`engine2.log`" in str(caught.value.hint)
    made.close_session("a")  # what is open on the other one still ends


def test_a_note_of_several_engines_is_said_once() -> None:
    assert pool(Engine(), Engine()).notes() == ("the same",)


def test_many_threads_fill_all_engines_alike() -> None:
    engines = [Engine() for _ in range(3)]
    made = pool(*engines)
    threads = [threading.Thread(target=opened, args=(made, str(number))) for number in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(engine.open) for engine in engines] == [10, 10, 10]


def test_a_drained_engine_is_no_loss_and_one_that_ended_by_itself_is() -> None:
    one, two, three = Engine(), Engine(exit_code=0), Engine(exit_code=-9)
    made = pool(one, two, three)
    made.retire(1)
    assert made.ended == [3]
    assert [number for number, _ in made.alive] == [0]
    assert made.kept == [one, three]
    lost = made.lost()
    assert lost is not None
    assert lost.message == "engine 3 of 3 ended with code `-9`"
    made.retire(2)
    assert made.lost() is None


def test_a_session_that_its_client_opened_is_found_where_it_is() -> None:
    one, two = Engine(), Engine(open={"a"})
    made = pool(one, two)
    made.found("a", 1)
    made.found("a", 1)
    assert made.number_of("a") == 1
    assert made.close_session("a") == "a"
    opened(made, "b")
    assert one.open == {"b"}  # none is open anywhere
