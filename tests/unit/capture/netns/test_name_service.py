"""Names are looked up in files and by our name server, whatever the system had."""

from __future__ import annotations

import pytest

from faultwire.capture.netns.name_service import RESOLV_CONF, nsswitch


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("hosts: files dns", "hosts: files dns"),
        ("hosts:  files mdns4_minimal [NOTFOUND=return] dns", "hosts: files dns"),
        ("hosts: files resolve [!UNAVAIL=return] dns myhostname # ask", "hosts: files dns myhostname"),
        ("hosts: files mymachines resolve", "hosts: files dns"),
    ],
)
def test_services_that_ask_others_are_left_out(before: str, after: str) -> None:
    text = nsswitch(f"passwd: files systemd\n{before}\nnetworks: files\n")
    assert text == f"passwd: files systemd\n{after}\nnetworks: files\n"


def test_a_comment_about_hosts_is_no_line_about_hosts() -> None:
    assert nsswitch("# hosts: files resolve\n") == "# hosts: files resolve\n"


def test_no_domain_is_put_behind_a_name() -> None:
    assert "search .\n" in RESOLV_CONF
    assert "nameserver 127.0.0.1\n" in RESOLV_CONF
