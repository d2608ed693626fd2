"""One commit, one wheel: `.ci/one_wheel.py [--plain WHEEL]`.

Builds the commit twice, from nothing, in two folders, and compares. maturin writes the name of the folder
into the bill of materials: `--plain` takes it out of a wheel, in place, as is done before a release.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = re.compile(r"path\+file://(/.*)/core_rs/py#faultwire-py@")
"""Where a wheel was built, as maturin writes it into the bill of materials …"""
NOWHERE = "/faultwire"
"""… and what stands there in a release."""


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


def reproduce(work: Path) -> Path:
    """Build one commit twice, from nothing, and compare; one of the two.

    In two folders, and the second time as a user who lets nobody else read.
    """
    archive = work / "source.tar"
    run("git", "archive", "--output", archive, "HEAD", cwd=ROOT)
    instant = run("git", "log", "-1", "--format=%ct", cwd=ROOT).strip()
    built = []
    for name, umask in (("source", 0o022), ("another/folder", 0o077)):
        before = os.umask(umask)
        try:
            source = work / name
            source.mkdir(parents=True)
            run("tar", "-xf", archive, "-C", source, cwd=work)
            built.append(_built(work, source, instant))
        finally:
            os.umask(before)
        shutil.rmtree(source)
    named = differing(*built)
    for wheel in built:
        plain(wheel)
    digests = [hashlib.sha256(wheel.read_bytes()).hexdigest() for wheel in built]
    if len(set(digests)) != 1:
        sys.exit(f"wheel: two builds of one commit differ: {digests}, in {differing(*built)}")
    # The control: the folders were two.
    if [name.rpartition(".dist-info/")[2].partition("/")[0] for name in named] != ["RECORD", "sboms"]:
        sys.exit(f"wheel: expected two folders to differ in the bill of materials alone, found {named}")
    print(f"two builds of one commit, in two folders, are the same wheel: sha256 {digests[0]}")
    return built[0]


def _built(work: Path, source: Path, instant: str) -> Path:
    """The wheel of these sources, with a target folder of its own."""
    cargo = os.environ.get("CARGO_HOME", str(Path.home() / ".cargo"))
    with tempfile.TemporaryDirectory(prefix="target", dir=work) as target:
        env = environment() | {
            "SOURCE_DATE_EPOCH": instant,
            "CARGO_TARGET_DIR": target,
            "RUSTFLAGS": f"--remap-path-prefix={cargo}=cargo",
        }
        out = work / f"built-{source.name}"
        run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", out, source, cwd=work, env=env)
    (wheel,) = out.glob("*.whl")
    return wheel


def plain(wheel: Path) -> None:
    """Take the name of the folder in which a wheel was built out of its bill of materials, and no more."""
    with zipfile.ZipFile(wheel) as archive:
        members = {part.filename: (part, archive.read(part)) for part in archive.infolist()}
    (bill,) = (name for name in members if ".dist-info/sboms/" in name)
    (record,) = (name for name in members if name.endswith(".dist-info/RECORD"))
    text = members[bill][1].decode()
    folders = set(FOLDER.findall(text))
    if len(folders) != 1:
        sys.exit(f"{wheel.name}: expected one folder in its bill of materials, found {sorted(folders)}")
    told = text.replace(f"path+file://{folders.pop()}/", f"path+file://{NOWHERE}/").encode()
    listed = members[record][1].decode()
    line = next(line for line in listed.splitlines() if line.startswith(f"{bill},"))
    members[bill] = members[bill][0], told
    members[record] = members[record][0], listed.replace(line, recorded(bill, told)).encode()
    draft = wheel.with_name(f"{wheel.name}.draft")
    with zipfile.ZipFile(draft, "w") as archive:
        for part, data in members.values():
            archive.writestr(part, data, part.compress_type)
    draft.replace(wheel)


def recorded(name: str, data: bytes) -> str:
    """A line of a wheel's `RECORD`."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
    return f"{name},sha256={digest},{len(data)}"


def differing(one: Path, other: Path) -> list[str]:
    """The members of two archives that are not the same, or not at the same place."""
    first, second = zipfile.ZipFile(one).infolist(), zipfile.ZipFile(other).infolist()
    looks = [[(part.filename, part.CRC, part.date_time, part.external_attr) for part in parts] for parts in
             (first, second)]  # fmt: skip
    return sorted({name for name, *_ in set(looks[0]) ^ set(looks[1])}) or ["their order"]


def main() -> None:
    given = sys.argv[1:]
    if "--plain" in given:
        plain(Path(given[-1]).resolve())
        return
    with tempfile.TemporaryDirectory(prefix="fw") as place:
        reproduce(Path(place).resolve())


if __name__ == "__main__":
    main()
