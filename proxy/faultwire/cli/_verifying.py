"""The checks of `faultwire verify`: everything that a run needs, tested by running it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from faultwire.cli._examine import Finding
from faultwire.errors import CaptureError, FaultwireError
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faultwire.config.model import Config, ModelSettings, ReplaysSettings
    from faultwire.events import AgentResult, History
    from faultwire.runner.run import Played

SHOWN = 160
"""How many characters of an agent's output are shown."""
SCENARIO = "verify"


def examined(config: Config) -> Iterator[Finding]:
    """The findings one after another, as they are made. Raises AgentError where the agent does not start,
    and UsageError where something that the configuration asks for cannot be had."""
    yield from _file(config)
    yield from _agent(config)
    if config.mutations.engine == "model":
        yield _model(config)


def code(findings: list[Finding]) -> int:
    """The exit code: 0 if every check passes, 1 if the agent's answer is bad, 3 if a run would be
    inconclusive."""
    failed = {finding.subject for finding in findings if finding.state == "fail"}
    if failed - {"agent"}:
        return 3
    return 1 if failed else 0


def _file(config: Config) -> Iterator[Finding]:
    """The result of loading: names found, patterns compiled, references resolved."""
    from faultwire.runner.never_judged import foreseen
    from faultwire.runner.phases import contract

    yield Finding("ok", "configuration", f"{config.path}: {counted(len(config.prompts), 'golden prompt')}")
    for warning in config.warnings:
        yield Finding("note", "configuration", warning)
    if config.invariants:
        yield Finding("ok", "invariants", ", ".join(check.label for check in config.invariants))
    if config.contract is not None:
        phase = contract(config)  # raises ConfigError where nothing could be played
        rows = ", ".join(check.label for check in config.contract.invariants)
        yield Finding("ok", "contract", f"`{config.contract.name}`: {rows}")
        for scenario in config.contract.scenarios:
            faults = ", ".join(entry.id for entry in scenario.profile.entries) or "no faults"
            yield Finding("ok", "scenario", f"`{scenario.name}`: {faults}")
        for note in phase.notes:
            yield Finding("note", "contract", note.removeprefix("contract: "))
        for one in foreseen([phase], phase.name):
            yield Finding("note", "contract", one.why, one.hint)
    if config.chaos is not None:
        yield Finding("ok", "chaos", ", ".join(entry.id for entry in config.chaos.entries))
    if config.replays is not None and config.replays.sessions:
        yield from _sessions(config, config.replays)


def _sessions(config: Config, replays: ReplaysSettings) -> Iterator[Finding]:
    """Every incident session with its contract and its tape; nothing is imported for it.

    Raises ScenarioError and ConfigError, as the run would.
    """
    from faultwire.runner import incidents

    sessions = incidents.sessions_of(replace(config, replays=replace(replays, sources=())))
    for tape, _ in incidents.by_tape(sessions):
        incidents.replay_settings(tape)
    phase = incidents.phase(config, sessions)
    yield Finding("ok", "replays", ", ".join(prompt.id for prompt in phase.prompts))
    for note in phase.notes:
        yield Finding("note", "replays", note)


def _agent(config: Config) -> Iterator[Finding]:
    """Ask the first golden prompt through the proxy, with nothing broken."""
    from faultwire.agents.make import prepared
    from faultwire.campaign.ci_run import Part, Wanted, launch_settings
    from faultwire.contract.cells import Invocation
    from faultwire.runner.launch import start_run
    from faultwire.runner.own_keys import own_keys
    from faultwire.runner.phases import CALM
    from faultwire.runner.run import play

    try:
        with start_run(launch_settings(config, Wanted(SCENARIO), Part(()))) as run:
            yield Finding("ok", "proxy", f"listens on {run.engine.host}:{run.engine.port}")
            share = partial(run.share, "server")
            own = own_keys(config.agent, keyless=run.keyless)
            with prepared(own, share, folder=run.folder.path, base=config.folder) as agent:
                invocation = Invocation(CALM, config.prompts[0], 1, SCENARIO)
                (played,) = play([invocation], agent, run, seed=config.seed)
            run.folder.end("finished")
    except CaptureError as error:
        yield Finding("fail", "traffic", error.message, _needs(config) or error.hint)
        return
    except FaultwireError as error:
        if error.exit_code != FaultwireError.exit_code:
            raise
        yield Finding("fail", "proxy", error.message, error.hint)
        return
    yield from _arrived(played)


def _needs(config: Config) -> str | None:
    """What a server needs that we did not start, where the agent is one."""
    if getattr(config.agent, "start", config) is not None:
        return None
    return (
        "let faultwire start its server behind the proxy (`agent: {start: …}`); or fix `proxy.listen`, and "
        "start it with the variables in `agent.env` in the run's folder"
    )


def _arrived(played: Played) -> Iterator[Finding]:
    from faultwire.cli._arrivals import arrivals

    history = played.history
    if history.agent is not None:
        yield _answered(played.invocation.prompt.id, history.agent)
    for why in history.voids:
        yield Finding("fail", "proxy", why)
    yield from arrivals(history)
    yield from _model_calls(history)
    for note in history.notes:
        yield Finding("note", "traffic", note)


def _answered(prompt: str, result: AgentResult) -> Finding:
    from faultwire.checks._api import ending, quoted
    from faultwire.tape.redact.redactor import Redactor, fresh_key

    clean = Redactor(fresh_key())
    output = quoted(clean.text(result.answer, {}), SHOWN)
    if result.exit_code == 0 and not result.timed_out and result.answer.strip():
        return Finding("ok", "agent", f"answers `{prompt}` in {result.duration_s:.1f} s: {output}")
    last = next((line for line in reversed(result.stderr.splitlines()) if line.strip()), "")
    text = f"asked `{prompt}` it {ending(result)}" + ("" if result.answer.strip() else " without an answer")
    printed = f"; the last line of its stderr is {quoted(clean.text(last, {}), SHOWN)}" if last else ""
    return Finding("fail", "agent", text + printed)


def _model_calls(history: History) -> Iterator[Finding]:
    if history.exchanges and not any(exchange.kind == "llm" for exchange in history.exchanges):
        hint = "faults of kind `llm` would never fire; does its model traffic go through the proxy?"
        yield Finding("note", "traffic", "the agent made no model call", hint)


def _model(config: Config) -> Finding:
    """Let the model write one mutant; its earlier answers do not count."""
    from faultwire.mutations._lines import Form
    from faultwire.mutations.make import mutants

    model = config.model
    name = f"`{model.name}` at {model.provider}" if model is not None else "no model"
    one = config.mutations.model_copy(update={"count": 1, "types": ("paraphrase",)})
    form = Form(config.agent.reads) if config.agent.reads else None
    try:
        made = mutants(config.prompts[0].text, one, seed=config.seed, model=model, form=form)
    except FaultwireError as error:
        hint = _reached(model) if error.code == "mutations.model_failed" else error.hint
        return Finding("fail", "model", f"{name}: {error.message}", hint)
    if not made.mutants:
        return Finding("fail", "model", f"{name} wrote no mutant: {'; '.join(made.notes)}")
    return Finding("ok", "model", f"{name} writes mutants")


def _reached(model: ModelSettings | None) -> str:
    """What to look at where a model gave no answer."""
    otherwise = "or set `mutations.engine: built-in`, which needs no model"
    if model is not None and model.provider == "ollama":
        pull = f"`ollama pull {model.name}`"
        return f"is `ollama serve` running at `model.base_url`, and {pull} done? {otherwise}"
    return f"are `model.base_url`, `model.name` and the key right? {otherwise}"
