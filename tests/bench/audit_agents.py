"""`python -m tests.bench.audit_agents [--only CAUSE]`: planted divergences in agents that are real processes,
in Python and in Node, and the word of `faultwire audit` on each. Needs Node, and libfaketime where
`FAULTWIRE_LIBFAKETIME` or the system has it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

LIMIT_S = 1200
TARGET = 0.95
WORDS = ("rivers", "lakes", "mountains", "deserts", "islands", "forests", "glaciers", "canyons")
PYTHON = """import asyncio, datetime, json, os, random, secrets, tempfile, threading, time, uuid
import httpx
BASE = os.environ.get("PLANT_URL", "https://api.openai.com")
MODEL, HEAD = BASE + "/v1/chat/completions", {"authorization": "Bearer sk-none"}
def body(text):
    return {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": text}]}
def ask(text):
    answer = httpx.post(MODEL, json=body(text), headers=HEAD, timeout=60)
    return answer.json()["choices"][0]["message"]["content"]
def tool(name):
    return httpx.get(f"{BASE}/tool/{name}", timeout=60).text
def file(name):
    return open(name).read() if os.path.exists(name) else ""
ask("Where to start?")
"""
NODE = """import os from 'node:os';
import fs from 'node:fs';
import crypto, { randomUUID, randomInt } from 'node:crypto';
const BASE = process.env.PLANT_URL ?? 'https://api.openai.com';
const ask = async (content) => {
  const body = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content }] });
  const headers = { 'content-type': 'application/json', authorization: 'Bearer sk-none' };
  const answer = await fetch(`${BASE}/v1/chat/completions`, { method: 'POST', headers, body });
  return (await answer.json()).choices[0].message.content;
};
const tool = async (name) => (await fetch(`${BASE}/tool/${name}`)).text();
const file = (name) => (fs.existsSync(name) ? fs.readFileSync(name, 'utf8') : '');
await ask('Where to start?');
"""
CHOICE = "['rivers', 'lakes', 'hills', 'seas', 'woods', 'moors', 'dunes']"
THREADS = """
def one(word):
    got.append((word, tool(word)))
got = []
threads = [threading.Thread(target=one, args=(word,)) for word in ("rivers", "lakes", "hills")]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
ASYNC = """
async def main():
    async with httpx.AsyncClient(timeout=60) as client:
        calls = [client.get(f"{BASE}/tool/{word}") for word in ("rivers", "lakes", "hills")]
        return [(await done).text for done in asyncio.as_completed(calls)]
got = asyncio.run(main())
"""
SETTLE = """const got = [];
await Promise.all(['rivers', 'lakes', 'hills'].map(async (word) => got.push(await tool(word))));
"""
EVERY = "await Promise.any(['rivers', 'lakes', 'hills'].map(tool))"


@dataclass(frozen=True, slots=True)
class Plant:
    """A line that makes runs differ, and its cause. With `server` a local server answers, not the mock; with
    `then` an earlier run is held against one of another program, or of another file `style`."""

    cause: str
    language: str
    line: str
    server: bool = False
    then: str = ""
    style: str = ""

    @property
    def name(self) -> str:
        return f"{self.cause}-{self.language}-{PLANTS.index(self)}"


def _python(cause: str, *lines: str, server: bool = False) -> list[Plant]:
    return [Plant(cause, "python", line, server) for line in lines]


def _node(cause: str, *lines: str, server: bool = False) -> list[Plant]:
    return [Plant(cause, "node", line, server) for line in lines]


PLANTS: tuple[Plant, ...] = (
    *_python(
        "clock", "ask(f'It is {time.time()}')", "ask(datetime.datetime.now().isoformat())",
        f"ask(random.Random(time.time()).choice({CHOICE}))",
    ),
    *_node(
        "clock", "await ask(`It is ${Date.now()}`)", "await ask(new Date().toISOString())",
        f"await ask({CHOICE}[Math.floor(Date.now() / 10) % 7])",
    ),
    *_python(
        "random", f"ask(random.choice({CHOICE}))", "ask(f'id {uuid.uuid4()}')", "ask(secrets.token_hex(6))",
        f"ask(' '.join(set({CHOICE})))", "for at in range(random.randrange(1, 9)): ask(f'again {at}')",
        "ask(tempfile.NamedTemporaryFile().name)",
    ),
    *_node(
        "random", f"await ask({CHOICE}[Math.floor(Math.random() * 7)])", "await ask(`id ${randomUUID()}`)",
        "await ask(`id ${globalThis.crypto.randomUUID()}`)", f"await ask({CHOICE}[randomInt(7)])",
        "await ask(crypto.randomBytes(6).toString('hex'))",
        "await ask(crypto.getRandomValues(new Uint8Array(5)).join(' '))",
    ),
    *_python(
        "order", THREADS + "ask('Sum up: ' + '; '.join(word for word, _ in got))", THREADS + "ask(got[0][0])",
        ASYNC + "ask('Sum up: ' + '; '.join(got))", server=True,
    ),
    *_node(
        "order", SETTLE + "await ask(`Sum up: ${got.join('; ')}`)", SETTLE + "await ask(got[0])",
        f"await ask(`First: ${{{EVERY}}}`)", server=True,
    ),
    *_python(
        "model", "ask('Then ' + ask('Say a word'))", "ask('Say a word')",
        "ask('Say a word'); ask('and go on')", server=True,
    ),
    *_node(
        "model", "await ask(`Then ${await ask('Say a word')}`)", "await ask('Say a word')",
        "await ask(`Use ${(await ask('Say a word')).split(' ').at(-1)}`)", server=True,
    ),
    *_python(
        "environment", "n = len(file('log')); open('log', 'a').write('x'); ask(f'You were called {n} times')",
        "n = len(file('log')); open('log', 'a').write('x' * (n < 3)); ask('start' + 'ing' * n)",
        "last = file('last'); word = {'lakes': 'hills', 'hills': 'seas'}.get(last, 'lakes')\n"
        "open('last', 'w').write(word); ask('Last time: ' + last)",
    ),
    *_node(
        "environment",
        "const n = file('log').length; fs.appendFileSync('log', 'x'); await ask(`Called ${n} times`)",
    ),
    *_python("environment", "ask('In stock: ' + tool('stock'))", server=True),
    *_node("environment", "await ask(`In stock: ${await tool('stock')}`)", server=True),
    Plant("environment", "python", "ask('Be ' + file('style'))", style="kind"),
    Plant("environment", "node", "await ask(`Be ${file('style')}`)", style="kind"),
    Plant("code", "python", "ask('Be brief')", then="ask('Be brief and kind')"),
    Plant("code", "python", "ask('Tell me 3 facts')", then="ask('Tell me 5 facts')"),
    Plant("code", "python", "ask('Be brief')", then="ask('Be brief'); ask('Be kind')"),
    Plant("code", "node", "await ask('Be brief')", then="await ask('Be brief and kind')"),
    Plant("code", "node", "await ask('Be brief'); await ask('Be kind')", then="await ask('Be brief')"),
    *_python(
        "unknown", "ask(f'worker {os.getpid()}')", "ask(f'up for {time.monotonic()} s')",
        "ask('free: ' + open('/proc/meminfo').read().split()[4])", "ask(tempfile.mkstemp(dir='/tmp')[1])",
        "ask('load: ' + open('/proc/loadavg').read())", "ask(f'key {hash(id(object()))}')",
    ),
    *_node(
        "unknown", "await ask(`worker ${process.pid}`)", "await ask(`up for ${process.hrtime.bigint()}`)",
        "await ask(`free: ${os.freemem()}`)", "await ask(fs.mkdtempSync('/tmp/audit-bench-'))",
        "await ask(`load: ${fs.readFileSync('/proc/loadavg')}`)",
    ),
)  # fmt: skip


class Server(BaseHTTPRequestHandler):
    """A model that says another word each time it is asked for one, and tools that answer after a while."""

    chance = random.Random(1)

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        said = f"I like {self.chance.choice(WORDS)} and {self.chance.randrange(10**6)}"
        if "Say a word" not in asked["messages"][-1]["content"]:
            said = "Fine."
        message = {"role": "assistant", "content": said}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        self.answer("application/json", json.dumps({"object": "chat.completion", "choices": [choice]}))

    def do_GET(self) -> None:
        name = self.path.rpartition("/")[2]
        if name == "stock":
            self.answer("text/plain", f"{self.chance.choice(WORDS)} {self.chance.randrange(10**6)}")
        else:
            time.sleep(self.chance.random() * 0.3)
            self.answer("text/plain", f"{name} are long")

    def answer(self, kind: str, text: str) -> None:
        data = text.encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None: ...


@contextmanager
def served() -> Iterator[str]:
    """The URL of a server."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def write(work: Path, plant: Plant, line: str) -> list[str]:
    """Write the agent; its command."""
    if plant.language == "python":
        (work / "agent.py").write_text(PYTHON + line + "\n")
        return [sys.executable, "agent.py"]
    (work / "agent.mjs").write_text(NODE + line + "\n")
    return ["node", "agent.mjs"]


def audited(plant: Plant, work: Path, url: str, environment: dict[str, str]) -> dict[str, object]:
    """What the audit says, with the seconds that it took."""
    mock = ("--allow-host", "127.0.0.1") if plant.server else ("--mock",)
    faultwire = str(Path(sys.executable).with_name("faultwire"))
    environment = {**environment, **({"PLANT_URL": url} if plant.server else {})}
    command, against = write(work, plant, plant.line), list[str]()
    if plant.then or plant.style:
        (work / "style").write_text("brief")
        subprocess.run(
            [faultwire, "exec", "-q", *mock, "--", *command], cwd=work, env=environment, check=True,
            capture_output=True, timeout=LIMIT_S,
        )  # fmt: skip
        write(work, plant, plant.then or plant.line)
        (work / "style").write_text(plant.style or "brief")
        against = ["--against", "last"]
    started = time.monotonic()
    done = subprocess.run(
        [faultwire, "audit", *mock, "--format", "json", *against, "--", *command], cwd=work, env=environment,
        capture_output=True, text=True, timeout=LIMIT_S, check=False,
    )  # fmt: skip
    seconds = time.monotonic() - started
    if not done.stdout:
        return {"cause": done.stderr.strip().splitlines()[-1:], "runs": 0, "seconds": seconds}
    return {**json.loads(done.stdout), "seconds": seconds}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.audit_agents")
    parser.add_argument("--only", help="a cause, or the end of a plant's name")
    parser.add_argument("--at-once", type=int, default=2)
    given = parser.parse_args()
    chosen = [one for one in PLANTS if given.only in (None, one.cause, one.name.rpartition("-")[2])]
    right, total, runs, seconds = Counter[str](), Counter[str](), 0, 0.0
    with tempfile.TemporaryDirectory() as place, served() as url, ThreadPoolExecutor(given.at_once) as pool:

        def one(plant: Plant) -> dict[str, object]:
            work = Path(place) / plant.name
            work.mkdir()
            return audited(plant, work, url, dict(os.environ))

        for plant, found in zip(chosen, pool.map(one, chosen), strict=True):
            total[plant.cause] += 1
            right[plant.cause] += found["cause"] == plant.cause
            runs, seconds = runs + int(str(found["runs"])), seconds + float(str(found["seconds"]))
            if found["cause"] != plant.cause:
                print(f"{plant.name}: {found['cause']}: {plant.line}\n{found}", flush=True)
    print("| cause | agents | right |\n|---|---|---|")
    for cause, count in total.items():
        print(f"| `{cause}` | {count} | {right[cause]} |")
    share = sum(right.values()) / sum(total.values())
    print(f"\n{share:.1%} of {sum(total.values())}; {runs} runs, {seconds / max(1, runs):.1f} s each")
    return int(share < TARGET)


if __name__ == "__main__":
    raise SystemExit(main())
