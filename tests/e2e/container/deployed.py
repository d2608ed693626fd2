"""Every process of `deploy/compose.yaml`, started by its own command line in one namespace: hosts by their
names, ports and paths as they are. Run by `test_deployed.py` below `unshare`; prints what it found as JSON.

A container engine would add the images, and users of their own: both are looked at elsewhere.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.e2e.container.deployment import DEPLOY, ROOT, SERVICES, WRAPPER, plain, services

SECRETS = Path("/run/secrets")
BIN = Path(sys.executable).parent
PAGE = ROOT / "docs" / "howto" / "deploy.md"
PATIENCE_S = 120.0
HBA = "local all all trust\nhostssl all all all scram-sha-256\n"


def place(secrets: Path) -> None:
    """Mount what the containers would have: nothing of it is seen outside of this namespace."""
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/srv"], check=True)
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)
    subprocess.run(["cp", "-a", "/etc", "/srv/etc"], check=True)
    subprocess.run(["mount", "--bind", "/srv/etc", "/etc"], check=True)
    Path("/etc/hosts").write_text(f"127.0.0.1 localhost {' '.join(SERVICES)}\n")
    Path("/etc/faultwire").mkdir()
    shutil.copy(DEPLOY / "kubernetes" / "files" / "service.yaml", "/etc/faultwire/service.yaml")
    subprocess.run(["cp", "-a", secrets, SECRETS], check=True)
    SECRETS.chmod(0o755)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


def database() -> None:
    """PostgreSQL as its image starts it, and the script that the image runs once."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))[-1].parent
    folder = Path("/srv/database")
    folder.mkdir(mode=0o750)
    shutil.chown(folder, "postgres", "postgres")
    own: dict[str, Any] = {"user": "postgres", "group": "postgres", "extra_groups": [65532]}
    words = [programs / "initdb", "-D", folder / "data", "-U", "admin", "-A", "trust", "--no-sync"]
    subprocess.run(words, check=True, capture_output=True, **own)
    (folder / "data" / "pg_hba.conf").write_text(HBA)
    given = services()["database"]["command"][1:]
    more = ["-D", str(folder / "data"), "-k", str(folder), "-h", "0.0.0.0"]
    log = (folder / "log").open("wb")
    subprocess.Popen([str(programs / "postgres"), *given, *more], stdout=log, stderr=log, **own)
    local = {**os.environ, "PGHOST": str(folder), "POSTGRES_USER": "admin", "POSTGRES_DB": "faultwire"}
    ready = ["pg_isready", "--username", "admin"]
    wait(lambda: subprocess.run(ready, env=local, capture_output=True).returncode == 0, "the database")
    subprocess.run(["createdb", "-U", "admin", "faultwire"], check=True, env=local)
    script = DEPLOY / "kubernetes" / "files" / "database.sh"
    subprocess.run(["sh", script], check=True, env=local, capture_output=True)


def objects(folder: Path) -> None:
    """versitygw by its line where it is installed, else moto's server at the same place."""
    service = services()["objects"]
    Path("/srv/objects").mkdir()
    words = [*service["entrypoint"], *plain(service["command"])]
    gateway = shutil.which("versitygw") is not None
    if not gateway:
        words = [sys.executable, "-m", "moto.server", "-H", "0.0.0.0", "-p", "7070",
                 "-c", f"{SECRETS}/objects.pem", "-k", f"{SECRETS}/objects.key", "-s"]  # fmt: skip
    log = (folder / "objects.log").open("wb")
    subprocess.Popen(words, stdout=log, stderr=log)
    url = "https://objects:7070/health" if gateway else "https://objects:7070/"
    wait(lambda: asked(url)[0] == 200, "the object storage")
    if not gateway:
        urllib.request.urlopen(
            urllib.request.Request("https://objects:7070/team", method="PUT"), context=context()
        )


def context() -> ssl.SSLContext:
    return ssl.create_default_context(cafile=SECRETS / "authority.pem")


def asked(url: str, token: str | None = None) -> tuple[int, str]:
    """Status and text; 0 where nobody answers."""
    request = urllib.request.Request(
        url, headers={} if token is None else {"authorization": f"Bearer {token}"}
    )
    try:
        with urllib.request.urlopen(request, timeout=30, context=context()) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError:
        return 0, ""


def wait(there: Callable[[], bool], what: str) -> None:
    ends = time.monotonic() + PATIENCE_S
    while not there():
        assert time.monotonic() < ends, f"{what} does not answer"
        time.sleep(0.05)


def environment(folder: Path, name: str) -> dict[str, str]:
    """What a service of the compose file has, and where our own programs are."""
    path = f"{BIN}:{os.environ['PATH']}"
    return {
        "PATH": path,
        "HOME": str(folder),
        "TMPDIR": str(folder),
        **services()[name].get("environment", {}),
    }


def start(folder: Path, name: str) -> subprocess.Popen[bytes]:
    """A service of our own image, in a folder that is its `/work`."""
    service = services()[name]
    words = [*service["entrypoint"], *plain(service["command"])]
    words = [str(WRAPPER) if word == "faultwire-service" else word for word in words]
    words = [sys.executable, "-I", *words] if words[0] == str(WRAPPER) else [sys.executable, *words[1:]]
    folder.mkdir(exist_ok=True)
    log = (folder.parent / f"{name}.log").open("wb")
    return subprocess.Popen(words, cwd=folder, env=environment(folder.parent, name), stdout=log, stderr=log)


def healthy(name: str, folder: Path) -> bool:
    """The health check of the compose file, by its own words."""
    words = services()[name]["healthcheck"]["test"][1:]
    words = [sys.executable if word == "python3.11" else word for word in words]
    return subprocess.run(words, cwd=folder, capture_output=True).returncode == 0


def in_service(folder: Path, words: list[str]) -> str:
    """`docker compose run --rm faultwire WORDS…`"""
    line = [sys.executable, "-I", str(WRAPPER), *words]
    done = subprocess.run(
        line, cwd=folder / "work", env=environment(folder, "faultwire"), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def from_page(start: str) -> list[list[str]]:
    """Command lines of the page that begin so, without their beginning."""
    text = PAGE.read_text().replace("\\\n", " ")
    return [shlex.split(line)[len(start.split()) :] for line in text.splitlines() if line.startswith(start)]


def pipeline(folder: Path, token: str) -> dict[str, str]:
    """What a pipeline of the team has."""
    (folder / "token").write_text(token)
    (folder / "token").chmod(0o600)
    names = {"CA_FILE": "authority.pem", "CLIENT__CERT": "dask.pem", "CLIENT__KEY": "dask.key"}
    dask = {f"DASK_DISTRIBUTED__COMM__TLS__{name}": f"{SECRETS}/{file}" for name, file in names.items()}
    secrets = {
        name.removesuffix("_FILE"): Path(path).read_text().strip()
        for name, path in services()["faultwire"]["environment"].items()
        if name.startswith("AWS_") and name.endswith("_FILE")
    }
    return {
        "PATH": f"{BIN}:{os.environ['PATH']}",
        "HOME": str(folder),
        "SSL_CERT_FILE": f"{SECRETS}/authority.pem",
        "AWS_ENDPOINT_URL": "https://objects:7070",
        "AWS_REGION": "us-east-1",
        **secrets,
        **dask,
    }


def sql(text: str) -> str:
    words = ["psql", "-h", "/srv/database", "-U", "faultwire", "-d", "faultwire", "-tAc", text]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()


def played(folder: Path, token: str, *, workers: bool) -> dict[str, Any]:
    """A run of a pipeline: here or by the workers; results go to the service, tapes to the bucket."""
    env, project = pipeline(folder, token), folder / "shop"
    words = ["faultwire", "ci", "-q", "--store", "https://faultwire:8443", "--project", "shop",
             "--store-token", str(folder / "token")]  # fmt: skip
    if workers:
        shutil.copytree(project, folder / "worker", dirs_exist_ok=True)
        for name, place in (("scheduler", folder / "scheduler"), ("worker", folder / "worker")):
            start(place, name)
            wait(lambda name=name: healthy(name, folder), name)  # type: ignore[misc]
        words += ["--on", "dask://tls://scheduler:8786", "--worker-folder", str(folder / "worker"),
                  "--worker-python", sys.executable]  # fmt: skip
    done = subprocess.run(words, cwd=project, env=env, capture_output=True, text=True)
    tapes = ["faultwire", "push", "last", "--tapes", "s3://team/tapes", "--project", "shop"]
    pushed = subprocess.run(tapes, cwd=project, env=env, capture_output=True, text=True)
    return {
        "code": done.returncode,
        "err": done.stderr[-2000:],
        "tapes": pushed.stdout,
        "pushed": pushed.stderr,
    }


def main(folder: Path, secrets: Path, workers: str) -> None:
    place(secrets)
    database()
    objects(folder)
    service = start(folder / "work", "faultwire")
    wait(lambda: asked("https://faultwire:8443/ready")[0] == 200, "the service")
    (words,) = from_page("docker compose -f deploy/compose.yaml run --rm faultwire token add")
    token = in_service(folder, ["token", "add", *words])
    project = words[words.index("--project") + 1]
    assert project == "shop"
    found: dict[str, Any] = {
        "healthy": healthy("faultwire", folder),
        "played": played(folder, token, workers=workers == "1"),
    }
    (check,) = from_page("docker compose -f deploy/compose.yaml run --rm faultwire push --check")
    in_service(folder, ["push", "--check", *check])
    found["runs"] = json.loads(asked("https://faultwire:8443/api/projects/shop/runs", token)[1])["runs"]
    found["tapes"] = json.loads(asked("https://faultwire:8443/api/projects/shop/tapes", token)[1])["tapes"]
    found["metrics"] = asked(
        "https://faultwire:8443/metrics", (SECRETS / "metrics-token").read_text().strip()
    )
    found["metrics_by_admin"] = asked("https://faultwire:8443/metrics", token)[0]
    found["role"] = sql(
        "SELECT rolsuper, rolbypassrls, rolcreaterole FROM pg_roles WHERE rolname = 'faultwire'"
    )
    found["seen_without_a_project"] = sql("SELECT count(*) FROM runs")
    plain_text = ["psql", "postgresql://faultwire@database/faultwire?sslmode=disable", "-c", "SELECT 1"]
    password = {"PGPASSWORD": (SECRETS / "database-password").read_text().strip()}
    env = {**os.environ, **password}
    found["without_tls"] = subprocess.run(plain_text, env=env, capture_output=True).returncode
    found["with_tls"] = subprocess.run(
        ["psql", plain_text[1].replace("disable", "require"), "-c", "SELECT 1"], env=env, capture_output=True
    ).returncode
    found["line"] = Path(f"/proc/{service.pid}/cmdline").read_bytes().decode().replace("\0", " ")
    service.terminate()
    found["ended"] = service.wait(60)
    found["log"] = (folder / "faultwire.log").read_text()
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
