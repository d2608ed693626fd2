"""Programs that a kubeconfig names for tokens, started."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from faultwire.campaign.kube_login import VERSIONS, ExecLogin
from faultwire.errors import UsageError

PROGRAM = """#!/bin/sh
echo x >> "$COUNT"
printf '%s' "$KUBERNETES_EXEC_INFO" > "$COUNT.info"
n=$(wc -l < "$COUNT" | tr -d ' ')
printf '{"status": {"token": "%s-%s"}}' "$1" "$n"
"""


def program(folder: Path, text: str = PROGRAM, **more: Any) -> dict[str, Any]:
    path = folder / "login"
    path.write_text(text)
    path.chmod(0o755)
    env = [{"name": "COUNT", "value": str(folder / "count")}]
    return {"apiVersion": VERSIONS[0], "command": "./login", "args": ["token"], "env": env, **more}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_program_beside_the_kubeconfig_is_asked_again_only_for_a_fresh_token(
    tmp_path: Path, version: str
) -> None:
    settings = program(tmp_path, apiVersion=version, provideClusterInfo=True)
    login = ExecLogin(
        settings, tmp_path / "config", {"server": "https://here", "certificate-authority-data": None}
    )
    assert [login.token(), login.token(), login.token(fresh=True)] == ["token-1", "token-1", "token-2"]
    info = json.loads((tmp_path / "count.info").read_text())
    assert (info["apiVersion"], info["kind"]) == (version, "ExecCredential")
    assert info["spec"] == {"interactive": False, "cluster": {"server": "https://here"}}
    assert login.certificate() is None


def test_a_program_may_give_a_certificate(tmp_path: Path) -> None:
    text = '#!/bin/sh\necho \'{"status": {"clientCertificateData": "c", "clientKeyData": "k"}}\'\n'
    login = ExecLogin(program(tmp_path, text), tmp_path / "config", {})
    assert (login.certificate(), login.token()) == (("c", "k"), None)


@pytest.mark.parametrize(
    "text",
    [
        "#!/bin/sh\necho 'sk-secret'; echo 'sk-secret' >&2; exit 3\n",
        '#!/bin/sh\necho \'{"status": "sk-secret"}\'\n',
        "#!/bin/sh\necho '[\"sk-secret\"]'\n",
        "#!/nonexistent\n",
    ],
)
def test_a_program_that_gives_no_token_is_refused_without_what_it_printed(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match="found no token by") as raised:
        ExecLogin(program(tmp_path, text), tmp_path / "config", {})
    assert "sk-secret" not in str(raised.value) + str(raised.value.hint)
