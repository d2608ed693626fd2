"""The image: small, without a way to become root, and whole on a root file system that cannot be written to.

It is run by what a container engine would use: namespaces, a read-only bind, and another user.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parents[3]
LIMIT_MB = 150
USER = "65532"
STARTED = """
set -eu
mount --bind "$1" "$1" && mount -o remount,ro,bind "$1"
mount -t tmpfs -o mode=0755,uid=65532 tmpfs "$1/work" && mount -t tmpfs -o mode=1777 tmpfs "$1/tmp"
mount -t proc proc "$1/proc" && mount --bind /dev "$1/dev"
ip link set lo up
exec chroot "$1" /usr/bin/python3.11 -Ic "$2"
"""
INSIDE = """
import json, os, subprocess, sys, urllib.request
os.setgroups([]); os.setgid(65532); os.setuid(65532)
os.chdir("/work"); os.environ.clear(); os.environ.update(PATH="/usr/local/bin:/usr/bin:/bin", HOME="/work")
try:
    open("/usr/local/written", "w"); found = {"root": "written to"}
except OSError as error:
    found = {"root": os.strerror(error.errno)}
proxy = subprocess.Popen(["faultwire", "proxy", "--mock", "--health", "127.0.0.1:8081",
    "--listen", "127.0.0.1:8080", "--fault", "{status: {code: 503}, on: {host: api.openai.com}}"],
    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
for line in proxy.stderr:
    if line == "ready\\n":
        break
def status(url, proxy=None):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": proxy} if proxy else {}))
    try:
        return opener.open(urllib.request.Request(url), timeout=30).status
    except urllib.error.HTTPError as error:
        return error.code
found["ready"] = status("http://127.0.0.1:8081/readyz")
found["through"] = status("http://api.openai.com/v1/models", "http://127.0.0.1:8080")
proxy.terminate()
found["end"] = proxy.communicate()[1]
found["code"] = proxy.returncode
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The archive, and its root file system."""
    missing = [one for one in ("mmdebstrap", "buildah") if shutil.which(one) is None]
    if missing or os.geteuid() != 0:
        pytest.skip(f"needs root, and {', '.join(missing) or 'nothing else'}")
    wheel = os.environ.get("FAULTWIRE_WHEEL")
    if wheel is None:
        pytest.skip("needs a wheel: FAULTWIRE_WHEEL=dist/faultwire-….whl")
    folder = tmp_path_factory.mktemp("image")
    archive, root = folder / "faultwire.oci.tar", folder / "root"
    subprocess.run([HERE / ".container" / "build", wheel, archive], check=True, timeout=1200)
    with tarfile.open(archive) as layers:
        layers.extractall(folder / "oci", filter="data")
    blobs = folder / "oci" / "blobs" / "sha256"
    (layer,) = manifest(folder / "oci")["layers"]
    root.mkdir()
    subprocess.run(["tar", "-xf", blobs / layer["digest"].partition(":")[2], "-C", root], check=True)
    return archive, root


def manifest(oci: Path) -> dict[str, Any]:
    (one,) = json.loads((oci / "index.json").read_text())["manifests"]
    found: dict[str, Any] = json.loads(
        (oci / "blobs" / "sha256" / one["digest"].partition(":")[2]).read_text()
    )
    return found


@pytest.mark.nightly
def test_the_image_is_small_and_its_user_is_nobody_s(image: tuple[Path, Path]) -> None:
    archive, root = image
    oci = archive.parent / "oci"
    digest = manifest(oci)["config"]["digest"].partition(":")[2]
    config = json.loads((oci / "blobs" / "sha256" / digest).read_text())["config"]
    assert (config["User"], config["Entrypoint"]) == (f"{USER}:{USER}", ["faultwire"])
    size = sum(one.lstat().st_size for one in root.rglob("*") if one.is_file() and not one.is_symlink())
    assert size < LIMIT_MB * 1_000_000
    assert archive.stat().st_size < LIMIT_MB * 1_000_000
    raised = [one for one in root.rglob("*") if not one.is_symlink() and one.lstat().st_mode & 0o6000]
    assert [one for one in raised if one.is_file()] == [], "nothing in it gives another user's rights"


@pytest.mark.nightly
def test_it_runs_on_a_root_that_cannot_be_written_to(image: tuple[Path, Path]) -> None:
    done = subprocess.run(
        ["unshare", "--mount", "--net", "--pid", "--fork", "sh", "-c", STARTED, "sh", image[1], INSIDE],
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["root"] == "Read-only file system"
    assert (found["ready"], found["through"], found["code"]) == (200, 503, 0), found
    assert "faults     1 fired" in found["end"]
