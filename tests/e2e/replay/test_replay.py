"""A recorded run again, without any network: the same bytes in the same pieces."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

CALLS = (sys.executable, str(Path(__file__).with_name("calls.py")))
AGENTS = Path(__file__).parents[1] / "agents"

Run = Callable[..., Any]


def environments() -> ModuleType:
    spec = importlib.util.spec_from_file_location("agent_environments", AGENTS / "environments.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def answers(done: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def record(faultwire: Run, *calls: str) -> Any:
    Path("slow.yaml").write_text("chunk_delay_ms: 30\nfallback: small_talk\nturns: []\n")
    done = faultwire("exec", "--script", "slow.yaml", "--record", "t", "--", *CALLS, *calls)
    assert done.returncode == 0, done.stderr.decode()
    return done


def test_bytes_boundaries_status_and_headers_come_back(faultwire: Run, about: Run) -> None:
    calls = ("whole", "rivers", "stream", "rivers", "stream", "lakes", "whole", "rivers")
    first = record(faultwire, *calls)
    again = faultwire("exec", "--replay", "t", "--", *CALLS, *calls, offline=True)
    assert again.returncode == 0, again.stderr.decode()
    assert again.stdout == first.stdout
    assert len(answers(again)[1]["chunks"]) > 3
    told = about()["replay"]
    assert (told["recorded"], told["served"], told["missed"], told["left"]) == (4, 4, 0, 0)
    assert told["diverged"] is False


@pytest.mark.nightly
def test_recorded_timing_takes_its_time(faultwire: Run) -> None:
    first = record(faultwire, "stream", "rivers")
    again = faultwire("exec", "--replay", "t", "--timing", "scaled:0.5", "--", *CALLS, "stream", "rivers")
    assert again.stdout == first.stdout


def test_parallel_calls_in_another_order(faultwire: Run) -> None:
    first = record(faultwire, "parallel", "16", "1")
    again = faultwire("exec", "--replay", "t", "--", *CALLS, "parallel", "16", "2", offline=True)
    assert again.returncode == 0, again.stderr.decode()
    assert again.stdout == first.stdout


@pytest.mark.nightly
def test_the_same_call_a_third_time_misses(faultwire: Run, about: Run) -> None:
    record(faultwire, "whole", "rivers", "whole", "rivers")
    again = faultwire("exec", "--replay", "t", "--", *CALLS, *(("whole", "rivers") * 3), offline=True)
    assert again.returncode == 1
    assert [one["status"] for one in answers(again)] == [200, 200, 422]
    last = answers(again)[2]
    assert ["x-should-retry", "false"] in last["headers"]
    assert b"it was called more often than recorded" in again.stderr
    assert about()["replay"]["diverged"] is True


@pytest.mark.nightly
def test_an_altered_prompt_is_pinpointed(faultwire: Run) -> None:
    record(faultwire, "whole", "which rivers are long", "whole", "lakes")
    again = faultwire("exec", "--replay", "t", "--", *CALLS, "whole", "which rivers are lone", offline=True)
    assert again.returncode == 1
    (answer,) = answers(again)
    told = json.loads("".join(answer["chunks"]))["error"]["divergence"]
    assert told["class"] == "changed prompt"
    assert told["differences"] == [
        {
            "path": "$.messages[0].content",
            "recorded": "which rivers are long",
            "asked": "which rivers are lone",
        }
    ]
    assert again.stderr.count(b"not requested: exec#") == 2


def test_faults_act_on_recorded_answers(faultwire: Run, about: Run) -> None:
    record(faultwire, "stream", "rivers", "whole", "lakes")
    fault = "cut_stream: {after_events: 2}"
    done = faultwire(
        "exec",
        "--replay",
        "t",
        "--fault",
        fault,
        "--",
        *CALLS,
        "stream",
        "rivers",
        "whole",
        "lakes",
        offline=True,
    )
    assert done.returncode == 0, done.stderr.decode()
    cut, whole = answers(done)
    assert len(cut["chunks"]) < 6
    assert whole["status"] == 200
    assert b"1 fired" in done.stderr
    assert about()["replay"]["left"] == 0


@pytest.mark.nightly
def test_a_recorded_529_comes_back(faultwire: Run) -> None:
    fault = "status: {code: 529, headers: {retry-after: '7'}}"
    done = faultwire("exec", "--mock", "--record", "t", "--fault", fault, "--", *CALLS, "whole", "rivers")
    assert answers(done)[0]["status"] == 529, done.stderr.decode()
    again = faultwire("exec", "--replay", "t", "--", *CALLS, "whole", "rivers", offline=True)
    assert again.stdout == done.stdout
    assert again.returncode == 0


@pytest.mark.nightly
@pytest.mark.parametrize("fault", ["cut_stream: {after_events: 2}", "reset: {}"])
def test_a_broken_answer_breaks_again(fault: str, faultwire: Run) -> None:
    Path("slow.yaml").write_text("chunk_delay_ms: 30\nfallback: small_talk\nturns: []\n")
    calls = (
        "exec",
        "--script",
        "slow.yaml",
        "--record",
        "t",
        "--fault",
        fault,
        "--",
        *CALLS,
        "stream",
        "rivers",
    )
    first = faultwire(*calls)
    again = faultwire("exec", "--replay", "t", "--", *CALLS, "stream", "rivers", offline=True)
    assert again.stdout == first.stdout
    assert again.returncode == first.returncode
    assert b"(broken)" in first.stdout or first.returncode == 1


def test_a_tampered_tape_is_refused_unless_that_is_waived(faultwire: Run, here: Path, about: Run) -> None:
    record(faultwire, "whole", "rivers")
    tape = here / ".faultwire" / "tapes" / "t.tape"
    copy = here / "bad.tape"
    shutil.copyfile(tape, copy)
    connection = sqlite3.connect(copy)
    connection.execute("UPDATE events SET hash = zeroblob(32) WHERE seq = 2")
    connection.commit()
    connection.close()
    refused = faultwire("exec", "--replay", "./bad.tape", "--", *CALLS, "whole", "rivers")
    assert refused.returncode == 3
    assert refused.stdout == b""
    assert b"tape.tampered" in refused.stderr
    assert b"event 2" in refused.stderr
    done = faultwire("exec", "--replay", "./bad.tape", "--unverified", "--", *CALLS, "whole", "rivers")
    assert answers(done)[0]["status"] == 200, done.stderr.decode()
    assert b"(unverified)" in done.stderr
    assert about()["replay"]["unverified"] is True


@pytest.mark.nightly
def test_a_miss_may_go_live_when_that_was_asked_for(faultwire: Run, about: Run) -> None:
    record(faultwire, "whole", "rivers")
    calls = ("whole", "rivers", "whole", "lakes")
    done = faultwire("exec", "--mock", "--replay", "t", "--on-miss", "live", "--", *CALLS, *calls)
    assert [one["status"] for one in answers(done)] == [200, 200]
    assert done.returncode == 0
    assert about()["replay"]["missed"] == 1
    assert b"1 sent upstream because of --on-miss `live`" in done.stderr


REFUSED = (
    (("--replay", "t", "--on-miss", "record"), b"--record"),
    (("--strict-order",), b"--replay"),
    (("--replay", "t", "--timing", "scaled:x"), b"scaled:F"),
    (("--replay", "nothing"), b"nothing"),
    (("--replay", "t", "--mask", "model"), b"$.metadata.run"),
)


@pytest.mark.nightly
def test_what_makes_no_sense_is_refused(faultwire: Run) -> None:
    record(faultwire, "whole", "rivers")
    for arguments, word in REFUSED:
        done = faultwire("exec", *arguments, "--", "true")
        assert done.returncode == 2, (arguments, done.stderr)
        assert word in done.stderr, arguments


@pytest.mark.nightly  # by day `test_every_sdk` compares the same SDK, without a network
@pytest.mark.parametrize("ways", [("sync/whole", "sync/stream", "async/whole", "async/stream", "tools")])
def test_the_openai_sdk_sees_no_difference(ways: tuple[str, ...], faultwire: Run) -> None:
    python = environments().python("openai-3")
    command = (str(python), str(AGENTS / "openai_agent.py"), *ways)
    env = {"OPENAI_API_KEY": "sk-test-0123456789abcdef0123456789"}
    first = faultwire("exec", "--mock", "--record", "t", "--", *command, env=env)
    assert first.returncode == 0, first.stderr.decode()
    again = faultwire("exec", "--replay", "t", "--", *command, offline=True, env=env)
    assert again.returncode == 0, again.stderr.decode()
    assert told(again.stdout) == told(first.stdout)


@pytest.mark.nightly
def test_an_sdk_s_second_attempt_gets_what_its_first_did_not_ask_for(faultwire: Run, about: Run) -> None:
    command = (str(environments().python("openai-3")), str(AGENTS / "openai_agent.py"), "sync/whole")
    env = {"OPENAI_API_KEY": "sk-test-0123456789abcdef0123456789"}
    first = faultwire("exec", "--mock", "--record", "t", "--", *command, env=env)
    fault = "status: {code: 503, attempts: first}"
    again = faultwire("exec", "--replay", "t", "--fault", fault, "--", *command, offline=True, env=env)
    assert again.returncode == 0, again.stderr.decode()
    assert b"1 fired" in again.stderr
    assert told(again.stdout) == told(first.stdout)
    assert (about()["replay"]["served"], about()["replay"]["left"]) == (1, 0)


@pytest.mark.nightly
def test_websockets_say_the_same_again(faultwire: Run, about: Run) -> None:
    """`taped_socket` and `replayed` under the official SDK: two tool loops over WebSockets."""
    python = environments().python("openai-3-realtime")
    command = (str(python), str(AGENTS / "realtime_agent.py"))
    env = {"OPENAI_API_KEY": "sk-test-0123456789abcdef0123456789"}
    first = faultwire("exec", "--mock", "--record", "t", "--", *command, env=env)
    again = faultwire("exec", "--replay", "t", "--", *command, offline=True, env=env)
    assert again.returncode == 0, again.stderr.decode()
    assert again.stdout == first.stdout
    assert json.loads(again.stdout)["realtime"]["results"] == ["42"]
    assert about()["replay"]["served"] == 2


@pytest.mark.nightly
def test_two_runs_are_compared_and_masks_learned(faultwire: Run) -> None:
    """`tape_compare`: what differs between two recorded runs, and the replay that ignores it."""
    calls = {name: (*CALLS, "whole", f"rivers {name}") for name in "ab"}
    for name, command in calls.items():
        assert faultwire("exec", "--mock", "--record", name, "--", *command).returncode == 0
    assert faultwire("tape", "diff", "a", "a").stdout == b"1 call is the same\n"
    different = faultwire("tape", "diff", "a", "b", "--format", "json")
    assert different.returncode == 1
    assert json.loads(different.stdout)["divergence"]["class"] == "changed prompt"
    learned = faultwire("tape", "learn", "a", "b")
    mask = "api.openai.com/v1/chat/completions $.messages.*.content"
    assert learned.stdout.decode() == f"--mask '{mask}'\n"
    assert b"look twice" in learned.stderr
    assert faultwire("exec", "--replay", "a", "--", *calls["b"]).returncode == 1
    assert faultwire("exec", "--replay", "a", "--mask", mask, "--", *calls["b"]).returncode == 0


@pytest.mark.nightly
def test_a_program_is_recorded_twice_to_learn_from(faultwire: Run) -> None:
    """`tape learn -- CMD`: what differs between two runs of the same program."""
    script = f'"$0" {" ".join(CALLS[1:])} whole "rivers $(cat /proc/sys/kernel/random/uuid)"'
    learned = faultwire("tape", "learn", "--mock", "--", "sh", "-c", script, CALLS[0])
    assert learned.returncode == 0, learned.stderr.decode()
    assert learned.stdout.decode() == "--mask 'api.openai.com/v1/chat/completions $.messages.*.content'\n"
    same = faultwire("tape", "learn", "--mock", "--", *CALLS, "whole", "rivers")
    assert (same.returncode, same.stdout) == (0, b"")
    assert b"no place differs" in same.stderr
    assert faultwire("tape", "learn", "--mock", "--", "false").returncode == 3
    assert faultwire("tape", "learn", "a").returncode == 2


def told(out: bytes) -> Any:
    """What an agent met, without how long it took."""

    def without_times(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                k: without_times(v) for k, v in value.items() if k not in ("gaps", "seconds", "at", "took")
            }
        return value

    return without_times(json.loads(out))


@pytest.mark.nightly
def test_masks_of_a_recording_hold_when_it_is_replayed(faultwire: Run) -> None:
    mask = "api.openai.com/v1/* $.messages.*.content"
    first = (*CALLS, "whole", "rivers 1")
    assert faultwire("exec", "--mock", "--record", "t", "--mask", mask, "--", *first).returncode == 0
    second = (*CALLS, "whole", "rivers 2")
    done = faultwire("exec", "--replay", "t", "--record", "u", "--", *second, offline=True)
    assert done.returncode == 0, done.stderr.decode()
    # What was made of it has them as well; without them the same call is another one.
    assert faultwire("exec", "--replay", "u", "--", *first, offline=True).returncode == 0
    assert faultwire("exec", "--mock", "--record", "v", "--", *first).returncode == 0
    assert faultwire("exec", "--replay", "v", "--", *second, offline=True).returncode == 1
    assert faultwire("exec", "--mock", "--mask", "model", "--", *first).returncode == 2


@pytest.mark.nightly
def test_a_replay_leaves_a_page_and_json_in_its_folder(faultwire: Run, here: Path, about: Run) -> None:
    record(faultwire, "whole", "which rivers are long")
    done = faultwire("exec", "--replay", "t", "--", *CALLS, "whole", "which rivers are <long>", offline=True)
    assert done.returncode == 1
    folder = here / ".faultwire" / "runs" / about()["id"]
    told = json.loads((folder / "replay.json").read_text())
    assert (told["verdict"], told["reason"], told["missed"]) == ("fail", "diverged", 1)
    assert told["misses"][0]["differences"][0]["path"] == "$.messages[0].content"
    page = (folder / "replay.html").read_text()
    assert "which rivers are &lt;long&gt;" in page
    assert "diverged" in page
    assert (folder / "replay.html").stat().st_mode & 0o777 == 0o600
