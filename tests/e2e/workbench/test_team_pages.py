"""The pages in a real browser: readable, inert, complete without a script, and nothing from elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.e2e.service.conftest import serving, token
from tests.e2e.workbench.accessibility import findings
from tests.unit.service.conftest import pushed

HOSTILE = "<img src=x onerror=alert(1)>\u202e\x1b[31m'\"{{7*7}}"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_team_comes_in_comments_shares_and_promotes(tmp_path: Path, chromium: Any, scheme: str) -> None:
    store = f"sqlite:///{tmp_path}/team.db"
    admin = token(tmp_path, store, "admin")
    with serving(tmp_path, store) as service:
        for name, passed in (("r1", 30), ("r02", 8)):
            assert service.ask("POST", "/api/projects/shop/runs", admin, pushed(name, passed))[0] == 201
        context = chromium.new_context(viewport={"width": 390, "height": 800}, color_scheme=scheme)
        page, bad = context.new_page(), list[str]()
        page.on("console", lambda message: bad.append(message.text))
        page.on(
            "request", lambda made: bad.append(made.url) if not made.url.startswith(service.url) else None
        )
        page.goto(service.url)
        page.get_by_label("Token of a project").fill(admin)
        page.keyboard.press("Enter")
        page.wait_for_url("**/projects/shop")
        assert findings(page) == []
        page.get_by_role("link", name="r1", exact=True).click()
        page.get_by_label("Why later runs").fill("the release")
        page.get_by_role("button", name="Make it the baseline").click()
        page.wait_for_url("**/projects/shop")
        page.get_by_role("link", name="r02", exact=True).click()
        assert "8 of 30 passed, 30 of 30 before" in page.inner_text("main")
        page.get_by_label("Comment", exact=True).fill(HOSTILE)
        page.get_by_role("button", name="Add").click()
        page.wait_for_selector(".comment")
        shown = page.inner_text(".comment")
        assert "<img src=x onerror=alert(1)>" in shown
        assert "\u202e" not in shown
        assert "{{7*7}}" in shown
        page.get_by_role("button", name="Make a link").click()
        link = page.locator("[role=status] code").inner_text()
        assert findings(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        guest = chromium.new_context().new_page()
        guest.goto(link)
        guest.wait_for_url("**/runs/r02")
        assert guest.get_by_role("button", name="Add").count() == 0
        assert guest.goto(f"{service.url}/projects/shop").status == 403
        assert bad == []
        context.close()
