"""Builds the wheel, looks into it, installs it into a clean environment and tests it from there.

    .ci/wheel.py [--all]

The end-to-end tests run in a folder outside the checkout that holds the tests and what they read, but
no `proxy/`: those of the day, or with `--all` every one of them.

What the wheel depends on is installed once for each set of requirements and kept outside the checkout, where
the clean environment finds it. With `--all` it is installed anew, in the releases of the day.

Most starts of faultwire in these tests are asked of servers that have imported it (`warm/server.py`); tests
marked `cold`, and all of them with `--all` or `FAULTWIRE_STARTS=cold`, start an interpreter for each.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path

import supply
from installer import installer
from supply import environment, run
from warm import start

ROOT = Path(__file__).parents[1]
TAKEN = (
    "tests",
    "addons",
    "profiles",
    "replays",
    "docs",
    "deploy",
    ".ci/lock",
    ".github",
    ".container",
    "pyproject.toml",
)
"""What the tests read besides the package."""
CACHE = Path(os.environ.get("FAULTWIRE_TEST_CACHE", Path.home() / ".cache" / "faultwire-tests"))
"""Where the tests keep the environments of their agents, too."""
NOT_TESTS = ("import-linter", "maturin", "mypy", "ruff", "types-")
"""Development tools that no test imports."""
SHIPPED = (
    "faultwire/_core.abi3.so",
    "faultwire/_data/profiles/stream_chaos.yaml",
    "faultwire/_data/addons/chaos.py",
    "faultwire/_data/verify_certificate.py",
    "faultwire/_data/verify_tape.py",
    "faultwire/capture/node_preload.cjs",
    "faultwire/report/templates/report.html.j2",
    "faultwire/report/templates/style.css",
    "faultwire/agents/child/__init__.py",
    "faultwire/tape/format/schema.sql",
    "faultwire/demo/demo.yaml",
    "faultwire/demo/script.yaml",
    "faultwire/demo/requirements.txt",
    "faultwire/py.typed",
)


def contents(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    roots = {name.split("/")[0] for name in names}
    extra = {root for root in roots if root != "faultwire" and not root.endswith(".dist-info")}
    missing = [name for name in SHIPPED if name not in names]
    if extra or missing:
        sys.exit(f"wheel: unexpected top-level names {sorted(extra)}, missing files {missing}")


def install(work: Path, wheel: Path, *, anew: bool) -> Path:
    """A clean environment with the wheel, what its tests need, and the guard; its interpreter."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needs = [one for one in settings["optional-dependencies"]["dev"] if not one.startswith(NOT_TESTS)]
    run(sys.executable, "-m", "venv", work / "clean", cwd=work)
    python = work / "clean" / "bin" / "python"
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=work).strip())
    if not anew:
        kept = dependencies([*settings["dependencies"], *needs])
        (site / "_faultwire_needs.pth").write_text(f"import site; site.addsitedir({str(kept)!r})\n")
    # installs whatever the wheel asks for and does not find
    run(python, "-m", "pip", "install", "--quiet", wheel, *needs, cwd=work)
    run(python, "-m", "pip", "check", cwd=work)
    shutil.copy(Path(__file__).with_name("guard.py"), site / "_faultwire_guard.py")
    (site / "_faultwire_guard.pth").write_text("import _faultwire_guard\n")
    return python


def dependencies(requirements: list[str]) -> Path:
    """A folder with these packages: the one of an earlier run with the same requirements, or a new one."""
    version = f"{sys.version_info.major}{sys.version_info.minor}"
    digest = hashlib.sha256("\n".join(sorted(requirements)).encode()).hexdigest()[:12]
    place = CACHE / f"wheel-{version}-{digest}"
    if not place.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f"{place.name}.part", dir=CACHE) as folder:
            part = Path(folder) / "site"
            run(*installer(), "--target", part, *requirements, cwd=CACHE)
            try:
                part.rename(place)
            except OSError:  # another run was first: its folder is as good
                if not place.exists():
                    raise
    return place


def apart(python: Path, work: Path) -> None:
    """Prove that the package comes from the environment, and that the guard would tell if it did not."""
    probe = (python, "-c", "import faultwire, faultwire._core as core; print(core.__file__)")
    env = environment()
    found = run(*probe, cwd=work, env=env).strip()
    if not found.startswith(str(work / "clean")):
        sys.exit(f"wheel: faultwire was imported from {found}, expected the clean environment")
    led = subprocess.run(
        [*map(str, probe)],
        cwd=work,
        env=env | {"PYTHONPATH": str(ROOT / "proxy")},
        capture_output=True,
        text=True,
        check=False,
    )
    if led.returncode == 0 or "was read from the checkout" not in led.stderr:
        sys.exit(f"wheel: the guard let the checkout through: {led.stdout}{led.stderr}")
    print(f"faultwire is imported from {Path(found).parent.relative_to(work)}; the checkout is refused")


def use(python: Path, work: Path) -> None:
    """What a user does first."""
    command, env = python.with_name("faultwire"), environment()
    print(run(command, "--version", cwd=work, env=env).strip())
    run(command, "profiles", "list", cwd=work, env=env)
    out = run(
        command, "exec", "--mock", "--profile", "stream_chaos", "--",
        "curl", "-sS", "-H", "authorization: Bearer none", "-H", "content-type: application/json",
        "-d", '{"model":"m","messages":[{"role":"user","content":"hi"}]}',
        "https://api.openai.com/v1/chat/completions", cwd=work, env=env,
    )  # fmt: skip
    if "chat.completion" not in out:
        sys.exit(f"wheel: the mock's answer did not come through the proxy: {out[:200]}")


def test(python: Path, work: Path, *, everything: bool) -> None:
    """Run the end-to-end tests from a folder in which there is no `proxy/`."""
    outside = work / "outside"
    outside.mkdir()
    for name in TAKEN:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, outside / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, outside / name)
    workers = ("-n", os.environ.get("FAULTWIRE_JOBS", "3"), "--dist", "worksteal")
    marks = ("-m", "nightly or not nightly") if everything else ()
    done = subprocess.run(
        [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *workers, *marks, "tests/e2e"],
        cwd=outside,
        env=environment(),
        # As a shell does. A group whose only parent outside is the server of a warm start is orphaned when
        # that start ends, and where one of the group is stopped, all of it gets SIGHUP then.
        process_group=0,
        check=False,
    )
    if done.returncode:
        sys.exit(f"wheel: the end-to-end tests ended with code {done.returncode}")


def hear_signals() -> None:
    """As a user's shell starts a command: `nohup` and a job in the background leave signals ignored, in every
    process below them, too."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def main() -> None:
    hear_signals()
    everything = "--all" in sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="fw") as folder:
        work = Path(folder).resolve()
        work.chmod(0o755)  # some tests run the command as a user without rights
        run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", work, ".", cwd=ROOT)
        (wheel,) = work.glob("*.whl")
        contents(wheel)
        python = install(work, wheel, anew=everything)
        apart(python, work)
        use(python, work)
        if everything:
            supply.check(work, wheel)
        warm = sys.platform == "linux" and os.environ.get("FAULTWIRE_STARTS") != "cold"
        if warm and not everything:
            with start.serving(python, work, environment()):
                test(python, work, everything=False)
        else:
            test(python, work, everything=everything)
        print(f"{wheel.name}: installed clean, used and tested")


if __name__ == "__main__":
    main()
