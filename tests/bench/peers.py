"""Beside other proxies: exchanges for a second of CPU, and how long a client waits, at 8 and 64 connections.

mitmproxy as a raw relay (tunnels that it does not look into) is what its sockets alone cost; hudsucker is a
proxy in Rust, mockttp one in Node. Neither of them records. Whatever cannot be had is named, with the reason.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench import subjects
from tests.bench.children import TICKS, Child, cpu_s
from tests.bench.client import Target
from tests.bench.pki import Pki
from tests.bench.rig import Rig
from tests.bench.rounds import Row
from tests.bench.subjects import Subject

from faultwire.mitm.engine.client import Engine

HUDSUCKER = "0.25.0"
SOURCE = Path(__file__).with_name("hudsucker_proxy")
BUILD_S = 1800
CONNECTIONS = (8, 64)
COUNT = {False: 2000, True: 400}
ROUNDS = {False: 7, True: 3}


def run(rig: Rig, bare: Subject, *, quick: bool) -> Iterator[Row]:
    """Every subject in turn; rates as multiples of bare mitmdump's, times in milliseconds."""
    found = [bare, rig.enter_context(subjects.mitmdump(rig.folder, rig.keys, rig.port, relay=True))]
    engines = {}
    for name, native in (("faultwire", False), ("faultwire-native", True)):
        settings = subjects.settings(rig.folder / f"peer-{name}", rig.keys, native=native)
        engines[name] = rig.enter_context(Engine.start(settings))
        found.append(subjects.opened(engines[name], "bench", subjects.ARMED, rig.port, name))
    absent = {}
    for name, start in (("mockttp", subjects.mockttp), ("hudsucker", hudsucker)):
        try:
            found.append(rig.enter_context(start(rig.folder, rig.keys, rig.port)))
        except (RuntimeError, TimeoutError, OSError) as error:
            absent[name] = f"not measured: {error}"
    for connections in CONNECTIONS:
        yield from at(rig, found, connections, quick=quick)
        for name, why in absent.items():
            yield Row("peers", f"2 KB JSON, {connections} kept connections", name, "per CPU-s", note=why)
    stats = engines["faultwire-native"].stats()
    if not stats["native"] or stats["native_declined"]:
        raise RuntimeError(f"it was not served natively: {stats['native_declined']}")


def at(rig: Rig, found: list[Subject], connections: int, *, quick: bool) -> Iterator[Row]:
    """So many connections at once."""
    title = f"2 KB JSON, {connections} kept connections"
    rates = {one.name: Row("peers", title, one.name, "per CPU-s", baseline=found[0].name) for one in found}
    took: dict[str, list[float]] = {one.name: [] for one in found}
    busy: dict[str, Counter[str]] = {one.name: Counter() for one in found}
    for number in range(-1, ROUNDS[quick]):
        for one in found:
            assert one.pid is not None
            before, threads = cpu_s(one.pid), by_thread(one.pid)
            job = one.job(count=COUNT[quick], connections=connections, kinds=["json"], retry=one.may_fail)
            outcome = rig.load.ask(job)
            one.settle()
            if number < 0:  # the first round is not counted
                continue
            done = outcome["done"]
            rates[one.name].rounds.append(done / (cpu_s(one.pid) - before))
            took[one.name] += outcome["took_s"]
            busy[one.name].update({name: ms / done for name, ms in (by_thread(one.pid) - threads).items()})
    base = rates[found[0].name].rounds
    for one in found:
        row = rates[one.name]
        row.ratios = [mine / theirs for mine, theirs in zip(row.rounds, base, strict=True)]
        each = {name: ms / ROUNDS[quick] for name, ms in busy[one.name].items()}
        row.note = ", ".join(f"{name} {ms:.2f} ms" for name, ms in sorted(each.items()) if ms >= 0.01)
        yield row
        for share in (50, 99):
            value = percentile(took[one.name], share) * 1000
            yield Row("peers", f"{title}: p{share}", one.name, "ms", [value], more_is_better=False)


def percentile(values: list[float], share: int) -> float:
    """The smallest value that `share` per cent of all do not exceed."""
    return sorted(values)[max(0, -(-len(values) * share // 100) - 1)]


def by_thread(pid: int) -> Counter[str]:
    """Milliseconds of CPU by the name of a thread; the first is the traffic's, as a rule."""
    found: Counter[str] = Counter()
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            text = (task / "stat").read_text()
        except OSError:  # it has ended
            continue
        fields = text.rpartition(")")[2].split()
        name = "main" if int(task.name) == pid else "others"
        found[name] += int((int(fields[11]) + int(fields[12])) * 1000 / TICKS)
    return found


@contextmanager
def hudsucker(folder: Path, pki: Pki, port: int) -> Iterator[Subject]:
    """hudsucker passing on. Raises RuntimeError where it cannot be built."""
    program = build_hudsucker()
    with Child([str(program), str(pki.ca), str(pki.ca_key)], log=folder / "hudsucker.log") as child:
        proxy = f"127.0.0.1:{child.ready['port']}"
        target = Target(subjects.HOST, port, str(pki.ca), proxy)
        yield Subject("hudsucker", target, child.pid, note=HUDSUCKER, may_fail=True)


def build_hudsucker() -> Path:
    """The program, built once per user."""
    home = subjects.cache() / f"hudsucker-{HUDSUCKER}"
    program = home / "release" / "hudsucker-proxy"
    if program.exists():
        return program
    if not shutil.which("cargo"):
        raise RuntimeError("cargo is not there")
    home.mkdir(parents=True, exist_ok=True)
    source = home / "source"
    shutil.copytree(SOURCE, source, dirs_exist_ok=True)
    command = ["cargo", "build", "--release", "--locked", "--quiet", "--target-dir", str(home)]
    try:
        done = subprocess.run(
            command, cwd=source, capture_output=True, text=True, timeout=BUILD_S, check=False, env=os.environ
        )
    except subprocess.TimeoutExpired as error:
        raise RuntimeError(f"its build took more than {BUILD_S} s") from error
    if done.returncode:
        raise RuntimeError(f"it does not build: {done.stderr.strip().splitlines()[-1:]}")
    return program
