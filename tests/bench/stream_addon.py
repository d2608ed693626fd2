"""For `mitmdump -s`: pass server-sent events on as they come, as a user of mitmdump would have to."""

from mitmproxy import http


def responseheaders(flow: http.HTTPFlow) -> None:
    if flow.response and flow.response.headers.get("content-type", "").startswith("text/event-stream"):
        flow.response.stream = lambda data: data
