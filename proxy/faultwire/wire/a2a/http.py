"""Agent2Agent over HTTP+JSON, versions 0.3 (below `/v1/`) and 1.0."""

from __future__ import annotations

import re  # noqa: TID251 - the pattern below is fixed and linear
from typing import TYPE_CHECKING, ClassVar

from faultwire.events import header
from faultwire.wire import json_bytes
from faultwire.wire.a2a import (
    errors as a2a_errors,
    stream as a2a_stream,
    view as a2a_view,
    vocabulary as a2a_vocabulary,
)
from faultwire.wire.a2a.jsonrpc import AgentProtocol
from faultwire.wire.editing.api import Editor
from faultwire.wire.recognition import recognise as recognition
from faultwire.wire.recognition.confirm import Signs
from faultwire.wire.types import Page

if TYPE_CHECKING:
    from faultwire.events import Request, RequestView, Response

_SENDS = {"/message:send": "SendMessage", "/message:stream": "SendStreamingMessage"}
_VERBS = {"cancel": "CancelTask", "subscribe": "SubscribeToTask", "": "GetTask"}
_TASK = re.compile(r"/tasks/(?P<id>[^/:]{1,256})(?::(?P<verb>cancel|subscribe))?$")
_PUSH = re.compile(r"/tasks/(?P<id>[^/:]{1,256})/pushNotificationConfigs(?:/[^/]{1,256})?$")


class A2AHttp(AgentProtocol):
    """`POST …/message:send`, `…/message:stream`, and what is done with tasks."""

    name = "a2a_http"
    signs = Signs(
        frozenset(
            ("artifactUpdate", "artifacts", "message", "msg", "skills", "status", "statusUpdate", "task")
        )
    )
    methods = frozenset(("POST", "GET", "DELETE"))
    edits: ClassVar[Editor] = a2a_stream.A2AEditor((), ("message",))
    volatile = (
        *(f"$.message.{name}" for name in a2a_vocabulary.FRESH_IDS),
        "$.configuration.pushNotification",
        "$.configuration.taskPushNotificationConfig",
    )
    volatile_path = ("/tasks",)
    errors = staticmethod(a2a_errors.rest_status)
    page = Page(
        "`POST …/message:send`, `…/message:stream`; `…/tasks/…` with the `a2a-version` "
        "header, or at an agent whose card was seen",
        "`a2a`",
        "as `a2a`",
        "as `a2a`",
        "as `a2a`",
    )

    def recognise(self, request: Request) -> bool:
        """By path; what tasks have in common with other services' only with the version in its head."""
        path = recognition.bare_path(request)
        if path.endswith(tuple(_SENDS)):
            return request.method == "POST"
        return _is_versioned(request) and self.recognise_peer(request)

    def recognise_peer(self, request: Request) -> bool:
        """By the path of a task."""
        path = recognition.bare_path(request)
        return path.endswith("/tasks") or bool(_TASK.search(path) or _PUSH.search(path))

    def asked(self, request: Request) -> a2a_view.A2ARequest:
        """By path and message. The method is named as in JSON-RPC's version 1.0."""
        path = recognition.bare_path(request)
        for ending, method in _SENDS.items():
            if path.endswith(ending):
                message = json_bytes.load_object(request.body or b"").get("message")
                return a2a_view.message(message, method, stream=ending == "/message:stream")
        task = _TASK.search(path)
        if task is not None:
            verb = task["verb"] or ""
            return a2a_view.A2ARequest(_VERBS[verb], stream=verb == "subscribe", task_id=task["id"])
        push = _PUSH.search(path)
        ident = push["id"] if push is not None else ""
        return a2a_view.A2ARequest("PushNotificationConfig" if ident else "ListTasks", False, task_id=ident)

    def request_view(self, body: bytes) -> RequestView:
        """The message that is sent."""
        message = json_bytes.load_object(body).get("message")
        return a2a_view.message(message, "SendMessage", stream=False).view()

    def error_to(
        self,
        request: Request,
        provider: str | None,
        status: int,
        *,
        message: str | None = None,
        retry_after_s: float | None = None,
    ) -> Response:
        """The same for every request."""
        return self.error(status, message=message, retry_after_s=retry_after_s)


def _is_versioned(request: Request) -> bool:
    kind = header(request.headers, "content-type") or header(request.headers, "accept") or ""
    return header(request.headers, "a2a-version") is not None or "application/a2a+json" in kind
