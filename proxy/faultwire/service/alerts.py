"""Alerts: a significant drop is reported to the project's webhooks, in the form that each wants."""

from __future__ import annotations

import json
from email.message import EmailMessage
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx

from faultwire.report.text import clip, line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from faultwire.service.regression import Drop
    from faultwire.service.settings import Alert

TIMEOUT_S = 10.0
ATTEMPTS = 3
MOST = 20
"""Drops that one alert lists; the rest are counted."""


def body(
    alert: Alert, project: str, run: Mapping[str, Any], before: str, drops: Iterable[Drop]
) -> tuple[str, bytes]:
    """The media type and the bytes for one webhook."""
    found = list(drops)
    title = line(f"{project}: run {run['id']} is significantly worse than {before}")
    texts = [line(clip(drop.text, 400)) for drop in found[:MOST]]
    texts += [f"and {len(found) - MOST} more"] if len(found) > MOST else []
    if alert.format == "slack":
        # Slack's mrkdwn: three characters are escaped, backquotes would open code.
        text = "\n".join([f"*{_slack(title)}*", *(f"• {_slack(one)}" for one in texts)])
        return "application/json", json.dumps({"text": text}).encode()
    if alert.format == "email":
        message = EmailMessage()
        message["Subject"] = clip(title, 200)
        message["X-Faultwire-Run"] = clip(line(str(run["id"])), 64)
        message.set_content("\n".join([title, "", *texts, ""]))
        return "message/rfc822", bytes(message)
    document = {
        "event": "regression", "project": project, "run": run["id"], "baseline": before,
        "commit": run.get("commit_id"), "text": title,
        "drops": [
            {
                "phase": one.phase, "scenario": one.scenario, "now": one.now, "before": one.before,
                "p_value": one.p_value,
            }
            for one in found[:MOST]
        ],
        "drops_left_out": max(0, len(found) - MOST),
    }  # fmt: skip
    return "application/json", json.dumps(document).encode()


def send(
    alerts: Iterable[Alert],
    project: str,
    run: Mapping[str, Any],
    before: str,
    drops: tuple[Drop, ...],
    post: Callable[..., httpx.Response] = httpx.post,
) -> Iterator[str]:
    """Report drops, and give what failed in words: by host, since a webhook's address is a secret."""
    if not drops:
        return
    for alert in alerts:
        media_type, data = body(alert, project, run, before, drops)
        why = ""
        for _ in range(ATTEMPTS):
            try:
                answer = post(
                    alert.url, content=data, headers={"content-type": media_type}, timeout=TIMEOUT_S
                )
                why = "" if answer.is_success else f"status {answer.status_code}"
            except httpx.HTTPError as error:
                why = type(error).__name__
            if not why or why.startswith("status 4"):
                break
        if why:
            yield f"the alert to {urlsplit(alert.url).hostname} was not taken: {why}"


def _slack(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("`", "'")
