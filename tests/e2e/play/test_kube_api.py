"""The calls of Kubernetes' API, by HTTPS to the server of these tests."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.play.kube_cluster import RIGHTS, RUNNER, kubeconfig, own_certificate
from tests.e2e.play.kube_server import ALL, ApiServer

from faultwire.campaign.engine import Command
from faultwire.campaign.kube_api import ApiRefusal, KubeApi
from faultwire.campaign.kube_config import access
from faultwire.campaign.kube_job import LABEL, job
from faultwire.campaign.kube_place import parse
from faultwire.errors import FaultwireError, UsageError

PLACE = parse("kube://chaos?image=a&objects=s3://team/asks")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ApiServer]:
    found = ApiServer(own_certificate(tmp_path), rights={RUNNER: RIGHTS})
    kubeconfig(tmp_path / "config", found.url, (tmp_path / "ca.pem").read_bytes(), {"tokenFile": "token"})
    (tmp_path / "token").write_text(RUNNER)
    yield found
    found.close()


@pytest.fixture
def api(server: ApiServer, tmp_path: Path) -> Iterator[KubeApi]:
    found = KubeApi(access(None, {"KUBECONFIG": str(tmp_path / "config")}), "chaos", gone_s=20.0)
    yield found
    found.close()


def manifest(name: str = "one") -> dict[str, object]:
    return job(name, "1", PLACE, Command(("python",), "/project"), "kube/1", 2, indexed=True)


def test_a_job_is_made_once_however_often_it_is_sent_and_removed_once(api: KubeApi) -> None:
    first = api.create("jobs", manifest())
    assert api.create("jobs", manifest())["metadata"]["uid"] == first["metadata"]["uid"]
    assert [one["metadata"]["name"] for one in api.list("jobs", f"{LABEL}=1")[0]] == ["one"]
    assert api.list("jobs", f"{LABEL}=2")[0] == []
    api.patch("jobs", "one", {"spec": {"suspend": False}})
    assert api.list("jobs", f"{LABEL}=1")[0][0]["spec"]["suspend"] is False
    api.delete("jobs", "one")
    api.delete("jobs", "one")
    assert api.list("jobs", f"{LABEL}=1")[0] == []


def test_a_key_that_the_server_does_not_know_is_refused(api: KubeApi) -> None:
    wrong = manifest()
    wrong["spec"]["completionsMode"] = "Indexed"  # type: ignore[index]
    with pytest.raises(ApiRefusal, match="completionsMode") as raised:
        api.create("jobs", wrong)
    assert raised.value.status == 422


def test_a_watch_ends_with_the_first_change_behind_the_list_and_without_one_by_its_time(
    api: KubeApi, server: ApiServer
) -> None:
    server.rights[RUNNER] = ALL
    _, version = api.list("jobs", f"{LABEL}=1")
    api.changed("jobs", f"{LABEL}=1", version, 1.0)  # nothing came
    watching = threading.Event()
    server.on_watch = watching.set
    thread = threading.Thread(target=api.changed, args=("jobs", f"{LABEL}=1", version, 250.0))
    thread.start()
    assert watching.wait(60)
    server.cluster.create("chaos", "jobs", manifest())
    thread.join(120)
    assert not thread.is_alive()


def test_a_token_that_ran_out_is_read_anew(api: KubeApi, server: ApiServer, tmp_path: Path) -> None:
    assert api.may("create", "jobs")
    server.rights = {"another": RIGHTS - {"create jobs"}}
    with pytest.raises(ApiRefusal, match="Unauthorized"):
        api.may("create", "jobs")
    (tmp_path / "token").write_text("another")
    assert api.may("list", "jobs")
    assert not api.may("create", "jobs")


def test_a_server_that_fails_for_a_while_is_asked_again_and_one_that_stays_away_is_gone(
    api: KubeApi, server: ApiServer
) -> None:
    server.failing = 2
    assert api.list("jobs", f"{LABEL}=1")[0] == []
    assert server.failing == 0
    api.gone_s = 0.5
    server.failing = 100
    with pytest.raises(FaultwireError, match=r"is gone: the server is starting \(HTTP 503\)"):
        api.list("jobs", f"{LABEL}=1")


def test_the_version_is_read_and_what_is_no_api_server_is_refused(api: KubeApi, server: ApiServer) -> None:
    assert api.version() == (1, 34)
    server.failing = 1
    with pytest.raises(UsageError, match="found no API server of Kubernetes"):
        api.version()
