"""What a wheel is made of, and that nothing else gets in: `.ci/supply.py [--deny] [WHEEL]`.

Two builds of one commit are the same wheel. What it needs is installed by the hashes of the lock alone, and
so is the wheel itself. The bills of materials (CycloneDX) are valid, and name what is locked. Crates have
licences and sources that are allowed (`cargo deny`, with `--deny`). Each is shown to fail on something bent.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOCK = ROOT / ".ci" / "lock" / "runtime.txt"
DENY = ROOT / ".cargo" / "deny.toml"
BOM = "cyclonedx-bom==7.5.0"
"""Makes the bill of materials of a release (`release.yml`), and validates both."""
VALIDATE = """
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
found = JsonStrictValidator(SchemaVersion.from_version(sys.argv[1])).validate_str(sys.stdin.read())
sys.exit(f"{found}"[:400] if found else 0)
"""
BANS = {
    "licences": ('"BSD-3-Clause", ', "", "licenses"),
    "bans": ("deny = [", 'deny = [\n  { crate = "ring" },', "bans"),
    "sources": ("allow-registry = [", "allow-registry = [] # [", "sources"),
}
"""By control: what is replaced in the configuration of `cargo deny`, by what, and the check that fails."""

Part = tuple[str, str]
"""A name and a version."""


def run(*command: str | Path, cwd: Path, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        [str(c) for c in command], cwd=cwd, env=env, check=False, text=True, capture_output=True
    )
    if done.returncode:
        logs = "".join(path.read_text() for path in cwd.glob(".faultwire/runs/*/engine.log"))
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}{logs}")
    return done.stdout


def environment() -> dict[str, str]:
    """Ours, without what could lead an interpreter to the checkout; the guard is told where that is."""
    leads = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "FAULTWIRE_VENV")
    kept = {name: value for name, value in os.environ.items() if name not in leads}
    return {**kept, "FAULTWIRE_FORBIDDEN": str(ROOT / "proxy")}


def refused(why: str, *command: str | Path, cwd: Path, text: str | None = None) -> None:
    """A control: the command must fail, and say why."""
    done = subprocess.run(
        [str(c) for c in command], cwd=cwd, check=False, text=True, input=text, capture_output=True
    )
    if not done.returncode or why not in done.stdout + done.stderr:
        sys.exit(f"control: expected a failure with `{why}` of {command}\n{done.stdout}{done.stderr}")


# ---------------------------------------------------------------- one commit, one wheel


def reproduce(work: Path) -> Path:
    """Build one commit twice, from nothing, and compare: the second time as a user who lets nobody else read.

    Both in the same folder, whose name is in the bill of materials that maturin writes. One of the two.
    """
    source, archive = work / "source", work / "source.tar"
    run("git", "archive", "--output", archive, "HEAD", cwd=ROOT)
    instant = run("git", "log", "-1", "--format=%ct", cwd=ROOT).strip()
    built = []
    for number, umask in enumerate((0o022, 0o077)):
        before = os.umask(umask)
        try:
            source.mkdir()
            run("tar", "-xf", archive, "-C", source, cwd=work)
            built.append(_built(work, source, number, instant))
        finally:
            os.umask(before)
        shutil.rmtree(source)
    digests = [hashlib.sha256(wheel.read_bytes()).hexdigest() for wheel in built]
    if len(set(digests)) != 1:
        sys.exit(f"wheel: two builds of one commit differ: {digests}, in {differing(*built)}")
    print(f"two builds of one commit are the same wheel: sha256 {digests[0]}")
    return built[0]


def _built(work: Path, source: Path, number: int, instant: str) -> Path:
    cargo = os.environ.get("CARGO_HOME", str(Path.home() / ".cargo"))
    env = environment() | {
        "SOURCE_DATE_EPOCH": instant,
        "CARGO_TARGET_DIR": str(work / f"target{number}"),
        "RUSTFLAGS": f"--remap-path-prefix={cargo}=cargo",
    }
    out = work / f"built{number}"
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", out, source, cwd=work, env=env)
    (wheel,) = out.glob("*.whl")
    return wheel


def differing(one: Path, other: Path) -> list[str]:
    """The members of two archives that are not the same, or not at the same place."""
    first, second = zipfile.ZipFile(one).infolist(), zipfile.ZipFile(other).infolist()
    looks = [[(part.filename, part.CRC, part.date_time, part.external_attr) for part in parts] for parts in
             (first, second)]  # fmt: skip
    return sorted({name for name, *_ in set(looks[0]) ^ set(looks[1])}) or ["their order"]


# ---------------------------------------------------------------- by hash alone


def entries(lock: str) -> list[str]:
    """Each pin of a lock, with its hashes."""
    return re.split(r"\n(?=\S)", lock.strip())


def bent(entry: str) -> str:
    """A pin none of whose hashes is any file's any more: one digit of each is another."""
    return re.sub(r"(sha256:)([0-9a-f])", lambda m: f"{m[1]}{int(m[2], 16) ^ 1:x}", entry)


def locked(work: Path, wheel: Path) -> None:
    """Install what the command needs by the hashes of the lock alone, and the wheel on top by its own."""
    run(sys.executable, "-m", "venv", work / "locked", cwd=work)
    python = work / "locked" / "bin" / "python"
    install = (python, "-m", "pip", "install", "--quiet", "--require-hashes")
    own = work / "own.txt"
    own.write_text(f"{wheel.as_uri()} --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}\n")
    pins = entries(LOCK.read_text())
    for name in ("certifi", "mitmproxy"):  # controls: one that is pinned once, and one for each Python
        lock = work / f"bent-{name}.txt"
        lock.write_text("\n".join(bent(one) if one.startswith(f"{name}==") else one for one in pins))
        refused("DO NOT MATCH THE HASHES", *install, "--dry-run", "-r", lock, cwd=work)
    run(*install, "-r", LOCK, cwd=work)
    other = work / "tampered" / wheel.name
    other.parent.mkdir()
    other.write_bytes(wheel.read_bytes() + b"\0")
    tampered = work / "tampered.txt"
    tampered.write_text(own.read_text().replace(wheel.as_uri(), other.as_uri()))
    refused("DO NOT MATCH THE HASHES", *install, "--no-deps", "-r", tampered, cwd=work)
    run(*install, "--no-deps", "-r", own, cwd=work)
    print(run(python, "-m", "pip", "check", cwd=work).strip())
    run(python.with_name("faultwire"), "--version", cwd=work, env=environment())
    print(f"installed by the hashes of {len(pins)} pins; a bent pin and a tampered wheel are refused")


# ---------------------------------------------------------------- bills of materials


def bills(wheel: Path) -> list[str]:
    """The bills of materials in a wheel (PEP 770)."""
    with zipfile.ZipFile(wheel) as archive:
        return [archive.read(n).decode() for n in archive.namelist() if ".dist-info/sboms/" in n]


def parts(bill: str) -> set[Part]:
    """What a bill lists besides its subject, each by name and version."""
    return {(part["name"], part.get("version", "")) for part in json.loads(bill).get("components", ())}


def crates(lines: Iterable[str]) -> set[Part]:
    """What `cargo tree --prefix none --format {p}` lists, but for crates of this repository."""
    words = [line.split() for line in lines if line.strip()]
    return {(name, version.removeprefix("v")) for name, version, *rest in words if "(/" not in " ".join(rest)}


def built_crates() -> set[Part]:
    """What the extension module is built from on this machine."""
    tree = run(
        "cargo", "tree", "--locked", "-p", "faultwire-py", "-e", "normal,build", "--prefix", "none",
        "--no-dedupe", "--format", "{p}", cwd=ROOT,
    )  # fmt: skip
    return crates(tree.splitlines())


def locked_crates() -> set[Part]:
    """Whatever `Cargo.lock` has from a registry by its checksum: also what other machines build from."""
    return {(name, version) for name, version, _ in locked_checksums()}


def checksums(bill: str) -> set[tuple[str, str, str]]:
    """Name, version and SHA-256 of each part of a bill that has one."""
    listed = json.loads(bill).get("components", ())
    return {
        (one["name"], one["version"], hash_["content"]) for one in listed for hash_ in one.get("hashes", ())
    }


def locked_checksums() -> set[tuple[str, str, str]]:
    packages = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    return {(one["name"], one["version"], one["checksum"]) for one in packages if "checksum" in one}


def pinned(lock: str) -> set[Part]:
    """The pins of a lock, for whatever Python and system."""
    pins = (entry.split(" ")[0].strip("\\").split("==") for entry in entries(lock))
    return {(name, version) for name, version in pins}


def compared(bill: str, needed: set[Part], locked: set[Part], own: Iterable[str] = ()) -> str | None:
    """What a bill misses of what is needed, or lists that is not locked; `own` are names that are ours."""
    found = {part for part in parts(bill) if part[0] not in own}
    missing, besides = sorted(needed - found), sorted(found - locked)
    if needed and not missing and not besides:
        return None
    return f"it misses {missing}, and lists {besides}, which nothing locks"


def materials(work: Path, wheel: Path) -> None:
    """The bill in the wheel and the one of a release are valid, and name what is locked."""
    run(sys.executable, "-m", "venv", work / "bom", cwd=work)
    python = work / "bom" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", BOM, cwd=work)
    made = work / "release.cdx.json"
    run(
        python.with_name("cyclonedx-py"), "requirements", "--output-reproducible", "--short-PURLs",
        "--pyproject", ROOT / "pyproject.toml", "-o", made, LOCK, cwd=work,
    )  # fmt: skip
    (core,) = bills(wheel)
    ours = ("faultwire-core", "faultwire-py")
    pins = pinned(LOCK.read_text())
    for what, bill, needed, known in (
        ("the wheel", core, built_crates(), locked_crates()),
        ("the release", made.read_text(), pins, pins),
    ):
        version = json.loads(bill)["specVersion"]
        command = (python, "-c", VALIDATE, version)
        done = subprocess.run(
            [str(c) for c in command], input=bill, text=True, capture_output=True, check=False
        )
        if done.returncode:
            sys.exit(f"bill of {what}: {done.stderr}")
        refused("", *command, cwd=work, text=bill.replace('"components"', '"ingredients"', 1))
        if wrong := compared(bill, needed, known, ours):
            sys.exit(f"bill of {what}: {wrong}")
        listed = len(parts(bill))
        print(f"the bill of {what}: CycloneDX {version}, {listed} parts, {len(needed)} needed, all locked")
    if wrong := sorted(checksums(core) - locked_checksums()):
        sys.exit(f"bill of the wheel: the checksums of {wrong} are not those of the lock")


# ---------------------------------------------------------------- licences and sources


def deny(work: Path) -> None:
    """`cargo deny` without its database of advisories, which is on the network, and its controls."""
    check = ("cargo", "deny", "--config")
    run(*check, DENY, "check", "licenses", "bans", "sources", cwd=ROOT)
    fuzz = ROOT / "core_rs" / "fuzz" / "Cargo.toml"
    run("cargo", "deny", "--manifest-path", fuzz, "--config", DENY, "check", "licenses", "sources", cwd=ROOT)
    for name, (old, new, which) in BANS.items():
        config = work / f"{name}.toml"
        text = DENY.read_text()
        if old not in text:
            sys.exit(f"control `{name}`: nothing to bend")
        config.write_text(text.replace(old, new, 1))
        refused(f"{which} FAILED", *check, config, "check", which, cwd=ROOT)
    print("licences, bans and sources of the crates are allowed; three bent configurations are not passed")


def check(work: Path, wheel: Path) -> None:
    """All that needs no tool besides pip and cargo."""
    locked(work, wheel)
    materials(work, wheel)
    reproduce(work)


def main() -> None:
    given = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="fw") as folder:
        work = Path(folder).resolve()
        if "--deny" in given:
            deny(work)
            return
        wheel = Path(given[0]).resolve() if given else reproduce(work)
        locked(work, wheel)
        materials(work, wheel)


if __name__ == "__main__":
    main()
