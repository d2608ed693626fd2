"""Builds the wheel, looks into it, installs it into a clean environment and uses it from there."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
SHIPPED = (
    "faultwire/_core.abi3.so",
    "faultwire/_data/profiles/stream_chaos.yaml",
    "faultwire/_data/addons/chaos.py",
    "faultwire/capture/node_preload.cjs",
    "faultwire/report/templates/report.html.j2",
    "faultwire/tape/schema.sql",
    "faultwire/demo/demo.yaml",
    "faultwire/demo/script.yaml",
    "faultwire/demo/requirements.txt",
    "faultwire/py.typed",
)


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run([str(c) for c in command], cwd=cwd, check=False, text=True, capture_output=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def contents(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    roots = {name.split("/")[0] for name in names}
    extra = {root for root in roots if root != "faultwire" and not root.endswith(".dist-info")}
    missing = [name for name in SHIPPED if name not in names]
    if extra or missing:
        sys.exit(f"wheel: unexpected top-level names {sorted(extra)}, missing files {missing}")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", work, ".", cwd=ROOT)
        (wheel,) = work.glob("*.whl")
        contents(wheel)
        run(sys.executable, "-m", "venv", work / "clean", cwd=work)
        python = work / "clean" / "bin" / "python"
        run(python, "-m", "pip", "install", "--quiet", wheel, cwd=work)
        command = work / "clean" / "bin" / "faultwire"
        print(run(command, "--version", cwd=work).strip())
        run(command, "profiles", "list", cwd=work)
        out = run(
            command, "exec", "--mock", "--profile", "stream_chaos", "--",
            "curl", "-sS", "-H", "authorization: Bearer none", "-H", "content-type: application/json",
            "-d", '{"model":"m","messages":[{"role":"user","content":"hi"}]}',
            "https://api.openai.com/v1/chat/completions", cwd=work,
        )  # fmt: skip
        if "chat.completion" not in out:
            sys.exit(f"wheel: the mock's answer did not come through the proxy: {out[:200]}")
        print(f"{wheel.name}: installed clean and used")


main()
