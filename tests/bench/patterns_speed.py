"""Speed of the pattern and text engine: `python tests/bench/patterns_speed.py`.

Prints one line per figure: what, measured, target. One core; the best of several runs, since other
work on the machine only ever slows a run down.
"""

from __future__ import annotations

import sys
import tempfile
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "patterns"))

from click.testing import CliRunner
from pattern_carriers import instance
from pattern_clean import clean
from pattern_corpora import clean_messages, source_lines, tool_outputs

from faultwire.cli.scan import scan as command
from faultwire.patterns import Pattern, compare, compile_patterns, scan, secret_spans

EVIL = [
    "(a+)+$",
    "(a|a)*b",
    "(a|aa)+$",
    "(x+x+)+y",
    "(.*)*c",
    "(.*a){12}$",
    "([a-z]+)*\\d!",
    "(\\w+\\s?)+#",
    "^(([a-z])+.)+[A-Z]([a-z])+$",
    "(a?){25}a{25}",
    "(a|b|ab)*c",
    "(.+)+;",
    "(a*)*!",
    "((a*)*)*!",
    "(a+){9}~",
    "[ab]*a[ab]{60}c",
    "(?:a.*){8}z!",
    ".*.*.*=.*",
    "(\\s*a\\s*)*~",
    "(a{1,30}){1,30}~",
    "(?s).*a.*a.*a.*~",
    "(b|a+)*~",
    "((ab)*)+~",
    "(a.|.a)+~",
    "([^b]*a){6}~",
    "(aa|aaa|aaaa)+~",
    "a{0,200}~",
    "(\\d|a|\\w)+~",
    "(?:(?:a|b)+c?)+~",
    "[a-c]+[b-d]+[c-e]+~",
    "(a|ab|abc)*~",
    "(a*b?)*~",
    "x*x*x*x*x*x*~",
    ".{0,90}~",
    "(.?){30}~",
    "(\\S+\\s*)+~",
    "(?i)(a|A|b)+~",
    "(a+b+)+~",
    "(a+|b+|c+)*~",
    "(ab?){40}~",
    "a.*b.*c.*d.*~",
    "(?:.a){30}~",
    "(\\w*\\W?)*~",
    "((a|b)(a|b))*~",
    "(a|[ab]|[abc])*~",
    "(aa?)+~",
    "(a+a+)+~",
    "([a-z]*)*~",
    "(\\b\\w+\\b\\s?)+~",
    "(a(b(c)?)?)*~",
]


def best(work: Callable[[], object], runs: int = 7) -> float:
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def line(name: str, value: float, unit: str, target: str, good: bool) -> None:
    print(f"{name:44} {value:10.3f} {unit:5} target {target:12} {'ok' if good else 'MISSED'}")


def repeated(size: int = 40_000) -> dict[str, str]:
    """Texts of nothing but what wakes one entry: a key, a context word, an example."""
    random = Random(3)
    texts = {}
    for path in sorted((Path(__file__).parents[2] / "core_rs" / "patterns").glob("[ps]*.toml")):
        for entry in tomllib.loads(path.read_text("utf-8"))["entry"]:
            examples = [instance(one, random) + " " for one in entry["yes"]]
            for part in [*entry.get("keys", []), *entry.get("context", [])[:3], *examples]:
                texts[f"{entry['id']}: {part[:24]}"] = part * (size // len(part.encode()))
    return texts


def worst() -> tuple[float, str]:
    """Milliseconds a MB of the slowest text of `repeated`, the second of two runs, in processor time."""
    slowest = (0.0, "")
    for name, text in repeated().items():
        scan(text)  # compiles what is compiled on first use
        start = time.process_time()
        scan(text)
        slowest = max(slowest, ((time.process_time() - start) * 1e9 / len(text.encode()), name))
    return slowest


def many_hits(hits: int = 15_389, size: int = 24 << 20) -> float:
    """Seconds that `faultwire scan` takes for a file with so many findings."""
    part = "x" * (size // hits - 24) + "\nwrite to ann@firm.org\n"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "many.txt"
        path.write_text(part * hits, "ascii")
        start = time.perf_counter()
        CliRunner().invoke(command, [str(path), "--kind", "pii"])
        return time.perf_counter() - start


def main() -> None:
    messages = clean_messages(6000) + tool_outputs(1000)
    mixed = "\n".join(messages)[: 4 << 20]
    size = len(mixed.encode()) / 1e6
    scan("warm")
    for name, kinds in (
        ("full scan", ()),
        ("pii", ("pii",)),
        ("secrets", ("secrets",)),
        ("injection", ("injection",)),
    ):
        speed = size / best(lambda kinds=kinds: scan(mixed, kinds=kinds))
        line(f"{name}, {size:.1f} MB of messages", speed, "MB/s", ">= 100", speed >= 100)
    everyday = "\n".join(text for _, text in clean(12_000))
    speed = len(everyday) / 1e6 / best(lambda: scan(everyday, kinds=("pii",)))
    line("pii, clean messages of 18 kinds", speed, "MB/s", ">= 100", speed >= 100)
    source = "\n".join(source_lines(60_000))
    speed = len(source) / 1e6 / best(lambda: scan(source))
    line("full scan, source code", speed, "MB/s", ">= 100", speed >= 100)
    data = mixed.encode()
    speed = size / best(lambda: secret_spans(data))
    line("secret_spans, bytes", speed, "MB/s", ">= 100", speed >= 100)
    small = mixed[100_000:104_096]
    millis = best(lambda: [scan(small) for _ in range(50)]) / 50 * 1e3
    line("full scan of 4 KB", millis, "ms", "<= 0.1", millis <= 0.1)
    text = "ab" * (1 << 18) + "a" * (1 << 19)
    slowest = 0.0
    for pattern in EVIL:
        user = compile_patterns([Pattern("evil", pattern)])
        slowest = max(slowest, best(lambda user=user: scan(text, kinds=["user"], user=user), 3) * 1e3)
    line(f"slowest of {len(EVIL)} evil expressions on 1 MB", slowest, "ms", "<= 100", slowest <= 100)
    millis, name = worst()
    line(f"slowest entry, {name}"[:44], millis, "ms/MB", "<= 100", millis <= 100)
    seconds = many_hits()
    line("faultwire scan, 24 MB with 15,389 findings", seconds, "s", "<= 5", seconds <= 5)
    one = " ".join(messages[0:40:5])[:1024]
    two = one.replace("the", "a").replace("will", "shall")
    millis = best(lambda: [compare(one, two) for _ in range(50)]) / 50 * 1e3
    line("compare two answers of 1 KB", millis, "ms", "<= 0.2", millis <= 0.2)


if __name__ == "__main__":
    main()
