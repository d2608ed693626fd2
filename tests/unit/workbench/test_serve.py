from pathlib import Path

import pytest

from faultwire.errors import UsageError
from faultwire.workbench.serve import Listen, check, hosts, names


def test_on_loopback_it_answers_to_the_names_of_this_machine() -> None:
    assert hosts(Listen(), 80) == {"127.0.0.1:80", "localhost:80", "[::1]:80"}


def test_elsewhere_only_to_the_address_that_was_named() -> None:
    assert hosts(Listen("192.0.2.1"), 80) == {"192.0.2.1:80"}
    assert hosts(Listen("2001:db8::1"), 80) == {"[2001:db8::1]:80"}


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "name.test"])
def test_what_others_can_reach_demands_tls(host: str) -> None:
    with pytest.raises(UsageError, match="expected TLS"):
        check(Listen(host))


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.8.8.8"])
def test_loopback_does_not(host: str) -> None:
    check(Listen(host))


def test_a_certificate_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    broken = tmp_path / "x.pem"
    broken.write_text("nonsense")
    with pytest.raises(UsageError, match="cannot use the certificate"):
        check(Listen("0.0.0.0", 0, broken, broken))
    with pytest.raises(UsageError, match="expected both"):
        check(Listen(certificate=broken))
    assert names(broken) == []
    assert names(None) == []
