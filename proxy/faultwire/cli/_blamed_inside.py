"""How `faultwire blame` gives an agent answers of two runs, and answers that have pieces of both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import ExitStack
    from pathlib import Path

    from faultwire.blame.compare import Compared
    from faultwire.blame.inside import Inside
    from faultwire.blame.parts import Part
    from faultwire.blame.pieces import Pieces
    from faultwire.blame.rates import Coalition
    from faultwire.blame.session import Splitting
    from faultwire.cli.options import Traffic
    from faultwire.events import Recorded
    from faultwire.tape.read.metadata import SessionInfo
    from faultwire.trials.execute import TrialRunner
    from faultwire.trials.model import Outcome
    from faultwire.trials.shared import SharedTrials


def both(tape: Path, session: str, calm: Path, calm_session: str, compared: Compared, target: Path) -> None:
    """Write a tape with all exchanges of both runs; those of the calm run have the numbers of
    `Compared.numbers`. Raises TapeError."""
    from faultwire.tape.files.choose import Source, choose

    ours, theirs = compared.all_numbers()
    choose(Source(tape, session, ours), Source(calm, calm_session, theirs), target)


def on_tape(runner: TrialRunner, traffic: Traffic, tape: Path, session: str, *, live: bool) -> TrialRunner:
    """The runner, answered by a session of a tape; with `live`, what that lacks goes to the servers or the
    mock."""
    from faultwire.cli.replay_options import replay_settings

    replayed = replay_settings(
        replace(traffic, replay=str(tape), on_miss="live" if live else "fail", mock=False, script=None)
    )
    assert replayed is not None
    named = replayed.model_copy(update={"sessions": {runner.session: session}})
    return replace(runner, settings=replace(runner.settings, replay=named))


@dataclass(frozen=True, slots=True)
class Answers:
    """Runs that are answered by a tape of both runs, each by its own exchanges of it."""

    compared: Compared
    seed: int
    trials: SharedTrials

    def run(self, coalition: Coalition) -> Outcome:
        """The parts of the coalition as in the failed run, the others as in the calm one."""
        from faultwire.replay.settings import SessionAnswers
        from faultwire.trials.model import Trial

        without = self.compared.left_out(coalition)
        return self.trials.run(Trial(frozenset(), self.seed, answers=SessionAnswers(without=without)))

    def splitting(self) -> Splitting:
        """How a blamed answer is taken apart."""
        from faultwire.blame.session import Splitting

        return Splitting(self._pieces, self._mixed)

    def _pieces(self, part: int) -> Pieces | str:
        from faultwire.blame.pieces import take_apart

        key = self.compared.parts[part].key
        ours, theirs = self.compared.failed[key], self.compared.calm[key]
        if len(ours) != 1 or len(theirs) != 1:
            here, there = counted(len(ours), "time"), counted(len(theirs), "time")
            return f"it was asked {here}, and {there} in the calm run"
        return take_apart(ours[0], theirs[0])

    def _mixed(self, inside: Inside, pieces: frozenset[int]) -> Outcome:
        from faultwire.replay.settings import SessionAnswers
        from faultwire.trials.model import Trial

        everything = frozenset(range(len(self.compared.parts)))
        without = self.compared.left_out((everything if inside.rest_fails else frozenset()) | {inside.part})
        given = {inside.pieces.number: inside.pieces.answer(pieces)}
        answers = SessionAnswers(without=without, given=given)
        return self.trials.run(Trial(frozenset(), self.seed, answers=answers))


def of_faults(
    tape: Path,
    session: SessionInfo,
    exchanges: Sequence[Recorded],
    parts: Sequence[Part],
    runner: TrialRunner,
    traffic: Traffic,
    stack: ExitStack,
    *,
    live: bool,
) -> Splitting:
    """How what a fault made of a server's answer is taken apart: the tape of the failed run answers, the
    other faults act as they did, and that answer is given as it was delivered, or in pieces as the server
    sent it."""
    from faultwire.blame.pieces import take_apart
    from faultwire.blame.session import Splitting
    from faultwire.replay.settings import SessionAnswers
    from faultwire.trials.model import Trial
    from faultwire.trials.shared import SharedTrials

    numbered = {one.number: one for one in exchanges}
    beyond = live or traffic.mock or traffic.script is not None
    # A server that was not asked then is asked now, where that is possible.
    unasked = tuple(one.number for one in exchanges if one.upstream is None) if beyond else ()
    trials: list[SharedTrials] = []

    def pieces(part: int) -> Pieces | str:
        exchange = numbered[parts[part].exchange]
        if exchange.upstream is None:
            return "the fault took the place of the server's answer"
        if any(line.site in ("request", "result") and line.outcome == "fired" for line in exchange.faults):
            return "a fault changed the request"
        return take_apart(exchange, replace(exchange, delivered=exchange.upstream, ending="complete"))

    def attempt(inside: Inside, held: frozenset[int]) -> Outcome:
        if not trials:
            there = on_tape(runner, traffic, tape, session.name, live=beyond)
            trials.append(stack.enter_context(SharedTrials(there)))
        number = inside.pieces.number
        others = (one.pin for one in parts if one.pin is not None and one.exchange != number)
        pins = frozenset(others) if inside.rest_fails else frozenset()
        given = {number: inside.pieces.answer(held)}
        answers = SessionAnswers(without=tuple(one for one in unasked if one != number), given=given)
        return trials[0].run(Trial(pins, session.seed, answers=answers))

    return Splitting(pieces, attempt)
