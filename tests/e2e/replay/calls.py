"""Calls by hand, without any SDK: prints each answer as it came, chunk by chunk, one JSON object a line.

calls.py WHAT ...     WHAT: `whole TEXT`, `stream TEXT` or `parallel N SEED` (N streams at once, shuffled)
"""

import base64
import http.client
import json
import os
import random
import ssl
import sys
import threading
import urllib.parse


def body(text, stream):
    return json.dumps(
        {"model": "gpt-4o-mini", "stream": stream, "messages": [{"role": "user", "content": text}]}
    ).encode()


def ask(text, stream):
    """Status, headers and the HTTP chunks of the answer."""
    proxy = urllib.parse.urlsplit(os.environ["HTTPS_PROXY"])
    context = ssl.create_default_context(cafile=os.environ["SSL_CERT_FILE"])
    connection = http.client.HTTPSConnection(proxy.hostname, proxy.port, context=context, timeout=60)
    user = base64.b64encode(f"{proxy.username}:{proxy.password}".encode()).decode()
    connection.set_tunnel("api.openai.com", 443, {"Proxy-Authorization": f"Basic {user}"})
    connection.request(
        "POST",
        "/v1/chat/completions",
        body(text, stream),
        {"content-type": "application/json", "authorization": "Bearer sk-test-0123456789abcdef0123456789"},
    )
    answer = connection.getresponse()
    chunks = []
    try:
        while chunk := answer.read1(65536):
            chunks.append(chunk.decode())
    except http.client.IncompleteRead:
        chunks.append("(broken)")
    headers = [pair for pair in answer.getheaders() if pair[0] not in ("openai-organization",)]
    return {"text": text, "status": answer.status, "headers": headers, "chunks": chunks}


def show(found):
    print(json.dumps(found), flush=True)


def parallel(count, seed):
    texts = [f"question {n}" for n in range(count)]
    random.Random(seed).shuffle(texts)
    found = {}
    threads = [
        threading.Thread(target=lambda text=text: found.__setitem__(text, ask(text, True))) for text in texts
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for text in sorted(found):
        show(found[text])


arguments = sys.argv[1:]
while arguments:
    what = arguments.pop(0)
    if what == "parallel":
        parallel(int(arguments.pop(0)), int(arguments.pop(0)))
    else:
        show(ask(arguments.pop(0), what == "stream"))
