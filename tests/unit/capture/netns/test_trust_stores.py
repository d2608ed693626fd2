"""The files in which a command's runtimes look for roots."""

from __future__ import annotations

from pathlib import Path

import pytest

from faultwire.capture.bundle import TrustFiles
from faultwire.capture.netns import trust_stores


def venv(folder: Path) -> Path:
    """An environment with certifi, and a `python` that is a link to one elsewhere."""
    bundle = folder / "venv/lib/python3.12/site-packages/certifi/cacert.pem"
    bundle.parent.mkdir(parents=True)
    bundle.write_text("roots")
    program = folder / "venv/bin/python"
    program.parent.mkdir()
    program.symlink_to("/usr/bin/env")
    return bundle


def test_certifi_of_the_commands_own_python_is_found(tmp_path: Path) -> None:
    bundle = venv(tmp_path)
    assert str(bundle) in trust_stores.bundles([str(tmp_path / "venv/bin/python")], {})
    assert str(bundle) not in trust_stores.bundles(["/bin/sh"], {})


def test_certifi_of_a_script_is_that_of_its_interpreter(tmp_path: Path) -> None:
    bundle = venv(tmp_path)
    script = tmp_path / "tool"
    script.write_text(f"#!{tmp_path}/venv/bin/python\n")
    script.chmod(0o755)
    assert str(bundle) in trust_stores.bundles([str(script)], {})


def test_certifi_of_an_activated_environment_is_found(tmp_path: Path) -> None:
    bundle = venv(tmp_path)
    assert str(bundle) in trust_stores.bundles(["/bin/sh"], {"VIRTUAL_ENV": str(tmp_path / "venv")})


def test_a_javas_store_is_found_by_its_home(tmp_path: Path) -> None:
    store = tmp_path / "jdk/lib/security/cacerts"
    store.parent.mkdir(parents=True)
    store.write_text("store")
    assert str(store) in trust_stores.java_stores(["x"], {"JAVA_HOME": str(tmp_path / "jdk")})
    assert str(store) not in trust_stores.java_stores(["x"], {})


@pytest.mark.parametrize("blank", ["", " with blanks"])
def test_a_trust_store_that_a_command_names_is_found(tmp_path: Path, blank: str) -> None:
    store = tmp_path / f"own{blank}.jks"
    store.write_text("store")
    named = f"-Djavax.net.ssl.trustStore={store}"
    command = ["java", named, "-Djavax.net.ssl.trustStorePassword=secret", "Main"]
    assert trust_stores.own_java_stores(command, {}) == [(str(store), "secret")]
    quoted = f"-Djavax.net.ssl.trustStore='{store}'"
    assert trust_stores.own_java_stores(["java"], {"JAVA_TOOL_OPTIONS": quoted}) == [(str(store), None)]


def test_a_trust_store_that_a_script_names_is_found(tmp_path: Path) -> None:
    store, script, data = tmp_path / "own.jks", tmp_path / "run.sh", tmp_path / "data"
    store.write_text("store")
    script.write_text(f"exec java -Djavax.net.ssl.trustStore={store} -jar app.jar\n")
    data.write_bytes(b"\0" + script.read_bytes())
    for words in (["sh", str(script)], ["java", f"@{script}"]):
        assert trust_stores.own_java_stores(words, {}) == [(str(store), None)]
    assert trust_stores.own_java_stores(["sh", str(data)], {}) == []


def test_a_trust_store_that_is_not_there_is_nobodys(tmp_path: Path) -> None:
    assert trust_stores.own_java_stores(["java", f"-Djavax.net.ssl.trustStore={tmp_path}/gone"], {}) == []


def test_a_folder_gets_our_authority_under_the_name_that_openssl_looks_for(
    tmp_path: Path, authority: bytes
) -> None:
    """The hash is that of `openssl x509 -subject_hash` (checked with OpenSSL itself in tests/e2e/netns)."""
    ours, bundle = tmp_path / "ours.pem", tmp_path / "all.pem"
    ours.write_bytes(authority)
    bundle.write_bytes(authority)
    trust = TrustFiles(bundle, ours, tmp_path / "x.jks")
    folder = tmp_path / "certs"
    folder.mkdir()
    first = trust_stores.hashed_name(authority, 0)
    assert trust_stores.folder_entries(str(folder), trust) == {first: str(ours)}
    (folder / first).symlink_to("another")
    assert trust_stores.folder_entries(str(folder), trust) == {
        trust_stores.hashed_name(authority, 1): str(ours)
    }


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    from faultwire.mitm.network import ca

    return ca.ensure(tmp_path_factory.mktemp("ca")).certificate.read_bytes()
