"""`faultwire demo`: a real agent, calm and under two profiles, judged and written up."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from faultwire import clock
from faultwire.agents.command import CommandAgent
from faultwire.contract.matrix import judge
from faultwire.demo.environment import interpreter
from faultwire.demo.plan import AGENT, SCRIPT, Plan, load_plan
from faultwire.errors import FaultwireError
from faultwire.mitm.network import ca
from faultwire.report import html, json
from faultwire.report.document import Subject, document
from faultwire.runner.cells import planned
from faultwire.runner.folder import STATE
from faultwire.runner.launch import LaunchSettings, start_run
from faultwire.runner.run import play, void
from faultwire.tape.redact.redactor import Redactor, load_key

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from faultwire.runner.run import Played
    from faultwire.runner.started_run import Run

KEY = "sk-faultwire-demo-needs-no-key"
"""What the agent authenticates with; the mock accepts any."""


@dataclass(frozen=True, slots=True)
class Demo:
    """What to do. `concurrency` invocations run at once; `keep` stores what each one printed."""

    seed: int
    concurrency: int = 4
    agent_python: Path | None = None
    keep: bool = False
    base: Path = STATE


@dataclass(frozen=True, slots=True)
class Result:
    """What came of it: the report's document, and where its files are. `void` is what to say where
    some of it proves nothing; the rest holds."""

    document: dict[str, Any]
    report: Path
    tape: Path
    void: FaultwireError | None = None


def run_demo(demo: Demo, say: Callable[[str], None], progress: Callable[[Played, int], None]) -> Result:
    """Run the demonstration. `progress` hears of every finished invocation and how many there are.

    Raises FaultwireError where nothing could be started, UsageError where `agent_python` is none.
    """
    plan = load_plan()
    ca.ensure(demo.base / "ca")  # an expired one is reported before anything is installed
    python, version = interpreter(demo.agent_python, say, demo.base)
    invocations = planned(plan.scenarios, plan.prompts, repeat=plan.repeat)
    agent = CommandAgent(
        (str(python), "-I", str(AGENT), "{prompt}"), timeout_s=plan.timeout_s, env=_agent_variables()
    )
    settings = LaunchSettings("demo", mock=True, script=SCRIPT, base=demo.base, about={"seed": demo.seed})
    say(f"{len(invocations)} invocations of a small agent on the openai SDK {version}, seed {demo.seed}")
    started, moment = clock.monotonic(), clock.utc_now()
    with start_run(settings) as run:
        played = play(
            invocations,
            agent,
            run,
            seed=demo.seed,
            concurrency=demo.concurrency,
            progress=lambda p: progress(p, len(invocations)),
        )
        ledger, notes = run.ledger_hash(), _notes(run)
    subject = Subject(
        id=run.folder.id,
        command="demo",
        agent=f"python agent.py {{prompt}} · openai {version}",
        seed=demo.seed,
        concurrency=demo.concurrency,
        started_at=moment.isoformat(timespec="seconds"),
        duration_s=round(clock.monotonic() - started, 3),
        ledger=ledger,
        tapes=(str(run.tape),),
        notes=notes,
    )
    return _written(demo, run, subject, plan, played)


def _agent_variables() -> dict[str, str | None]:
    """No setting of the user's own SDK may lead the demo's agent elsewhere, and no real key is used."""
    theirs: dict[str, str | None] = {name: None for name in os.environ if name.startswith("OPENAI_")}
    return theirs | {"OPENAI_API_KEY": KEY}


def _notes(run: Run) -> tuple[str, ...]:
    """Traffic that belongs to no session; an engine that is gone tells of none."""
    try:
        return run.engine.notes()
    except FaultwireError:
        return ()


def _written(demo: Demo, run: Run, subject: Subject, plan: Plan, played: Sequence[Played]) -> Result:
    """Judge, and write the run's files."""
    redactor = Redactor(load_key(demo.base / "keys" / "redaction.key"))
    pairs = [(p.invocation, p.history) for p in played]
    made = document(
        subject,
        plan.scenarios,
        plan.prompts,
        plan.checks,
        judge(plan.invariants, pairs),
        pairs,
        redact=lambda text: redactor.text(text, {}),
    )
    run.folder.write("report.json", json.render(made))
    report = run.folder.write("report.html", html.render(made))
    if demo.keep:
        for part in made["invocations"]:
            name = part["id"].replace("/", "-")
            run.folder.write(f"{name}.stdout", part["answer"] or "")
            run.folder.write(f"{name}.stderr", part["stderr"] or "")
    error = void(played)
    run.folder.end(
        "void" if error else "finished",
        **({"error": error.code, "why": error.message} if error else {}),
        ledger=subject.ledger,
        score=made["score"]["value"],
        gate=made["score"]["gate"],
    )
    return Result(made, report, run.tape, error)
