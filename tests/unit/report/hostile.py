"""What an agent may print to harm whoever reads the report."""

SCRIPTS = (
    "<script>alert(1)</script>", "</script><script>alert(1)//", "</pre><img src=x onerror=alert(1)>",
    "\"'><svg onload=alert(1)>", "</style><style>*{display:none}", "]]><!--", "javascript:alert(1)",
    "{{ 7 * 7 }}{% raw %}", "<iframe srcdoc='<script>alert(1)</script>'>", "&lt;b&gt;&#60;b&#62;",
    "<meta http-equiv=refresh content='0;url=http://127.0.0.1:9/'>", "<base href=//127.0.0.1:9/>",
    "url(http://127.0.0.1:9/x)", "</title><h1>owned</h1>",
)  # fmt: skip
CONTROLS = (
    "\x1b[2J\x1b[31mred",
    "\x1b]0;owned\x07",
    "\x1b]8;;http://x\x07link\x1b]8;;\x07",
    "a\x9b31mb",
    "\u202etxt.exe",
    "a\u2066b\u2069",
    "zero\u200bwidth",
    "\x00\x01\x08\x0b\x7f",
    "\r\noverwritten\r",
    "\udcff\ud800",
    "\ufffe\uffff",
    "[bold red]x[/]",
    "[link=http://x]y[/link]",
)
MARKDOWN = (
    "| a | b |\n|---|---|",
    "[link](http://127.0.0.1:9/)",
    "![x](http://127.0.0.1:9/x.png)",
    "@everyone #1 GH-2",
    "`code` ``more`` ```fence",
    "# head\n> quote\n- item\n---",
    "<details open><summary>x</summary>",
    "http://127.0.0.1:9/ www.example.com a@example.com",
    "\\`\\|",
    "~~~\nfence",
    "[^1]: note",
    "$x$ $$y$$",
    "`",
)
OTHERS = (
    "=cmd|'/c calc'!A1",
    "+1+1",
    "-2+3",
    "@SUM(A1)",
    "\tx",
    "quote \" and ' and `",
    "line one\nline two\n",
    "'; DROP TABLE cells; --",
    "\\u0000\\",
    "${jndi:ldap://x}",
    "%s %n {0}",
    "",
    " ",
    "\n",
)
EVERY = (*SCRIPTS, *CONTROLS, *MARKDOWN, *OTHERS)
INVALID = b"\xff\xfe\xc3\x28 \xed\xa0\x80 \xf0\x28\x8c\x28"
"""Bytes that are no UTF-8."""
STEERING = frozenset("\x00\x01\x07\x08\x0b\r\x1b\x7f\x9b\u202e\u2066\u2069\u200b\ufffe\uffff\udcff\ud800")
"""Characters that must not come out of any face as they went in."""


def everywhere(document, text):
    """The document with a hostile text in every place that an agent, a server or a user's file fills."""
    run = document["run"]
    run |= {"agent": text, "command": text, "notes": [text], "warnings": [text], "id": text or "x"}
    for cell in document["cells"]:
        cell |= {"explanation": text, "invariant": text or "x"}
    never = {"invariant": text or "x", "severity": "critical", "when": text, "why": text, "hint": text}
    document["score"]["unjudged"] = [never | {"cells": count} for count in (0, 2)]
    for prompt in document["prompts"]:
        prompt |= {"text": text, "turns": [text, text], "origin": text, "golden": text}
    for scenario in document["scenarios"]:
        scenario |= {"profile": text, "description": text}
    for suggestion in document["suggestions"]:
        suggestion["evidence"][0] |= {"words": text}
    for square in document["statistics"]["squares"]:
        square |= {"invariant": text}
    for part in document["invocations"]:
        part |= {"answer": text, "stderr": text, "voids": [text], "notes": [text]}
        for exchange in part["exchanges"]:
            _exchange(exchange, text)
    return document


def _exchange(exchange, text):
    exchange |= {"protocol": text, "tool": text, "error": text, "request_id": text}
    exchange["sent"] = {**exchange["request"], "body": {"bytes": 9, "text": f"other {text}"}}
    for side in (exchange["request"], exchange["upstream"], exchange["delivered"]):
        if side:
            side |= {"headers": [[text, text]], "body": {"bytes": 9, "text": text}}
    exchange["request"] |= {"url": text, "method": text}
    for fault in exchange["faults"]:
        fault |= {"reason": text, "effect": text, "id": text}
    talk = exchange["conversation"]
    if talk:
        call = {"id": text, "name": text, "arguments": text}
        result = {"id": text, "name": text, "text": text, "is_error": True}
        talk |= {"model": text, "problem": text}
        talk["turns"] = [{"role": text, "text": text, "calls": [call], "results": [result]}]
        talk["told"], talk["new"] = talk["turns"], 1
        if talk["answer"]:
            talk["answer"] |= {"text": text, "calls": [call], "error": text, "finish_reason": text}
            talk["said"] = talk["answer"]
    if exchange["stream"]:
        exchange["stream"]["events"] = [{"at_ms": 1.0, "text": text}]
        exchange["stream"]["withheld"] = [text]
