"""The files of `faultwire init`: a commented configuration and an example agent."""

from __future__ import annotations

NAME = "faultwire.yaml"
SCHEMA = ".faultwire/schema.json"
AGENT_NAME = "agent.py"

TEMPLATE = f"""\
# yaml-language-server: $schema={SCHEMA}
# What to ask the agent, how to break its world meanwhile, and what must hold all the same.
# Try it as it stands, with no key and no network:  faultwire verify, faultwire run, faultwire contract run
version: "2.0"

# The program under test, started once per prompt in a process of its own. No shell runs it; {{prompt}} is
# the prompt, and what it prints on stdout is the answer. {AGENT_NAME} is a small example: name yours here.
agent:
  type: command   # or http, openai, python, langchain
  command: ["python3", "{AGENT_NAME}", "{{prompt}}"]
  timeout: 30000  # milliseconds, then it is stopped
  # env: {{OPENAI_API_KEY: "${{OPENAI_API_KEY}}"}}  # from the environment or from .env, never literal

proxy:
  mock: true        # a mock stands in for every model's provider: take this away to ask the real one
  capture: env      # by environment variables: proxy and CA of every common runtime
  allow_hosts: []   # private addresses that the agent may call, such as localhost:11434

# Where tools are found, so that faults can name them. Tools inside of the agent need no entry.
# tools:
#   search: {{url: "http://localhost:5001/search*"}}

golden_prompts:
  - "What is the capital of France?"
  - prompt: "Name three primary colours."
    id: colours
    expect: {{excludes_pattern: "Traceback|HTTP Error", when: no_chaos}}

# Mutants of each golden prompt: `faultwire run` asks them, too, and scores how many come through.
mutations:
  count: 5
  types: [paraphrase, noise, prompt_injection, encoding_attacks, length_extremes]

contract:
  name: what must hold when the world breaks
  # Judged in every scenario; `faultwire checks list` names them all.
  invariants:
    - {{type: output_not_empty, when: no_chaos, severity: critical}}
    # 0: it answered. 2: it says that it has no answer, which costs nothing here; an answer made up does.
    - {{type: completes, exit_codes: [0, 2], severity: critical}}
    - {{type: no_retry_storm}}
    # A failure that passes must be got over, ...
    - {{type: recovers_within, max_s: 30, scenarios: [rate-limits, short-outage], severity: high}}
    # ... and where no model answers at all, the agent must say so.
    - {{type: completes, id: says_so, exit_codes: [2], scenarios: [outage], severity: critical}}
    # - {{type: truncated_stream_not_accepted, scenarios: [broken-streams], severity: critical}}
    # - {{type: contains, value: "Paris"}}
    # - {{type: regex, pattern: '(?i)\\bparis\\b'}}
  # The columns; `faultwire profiles list` names the built-in ones, a path names yours.
  chaos_matrix:
    - {{name: calm}}
    - {{name: rate-limits, profile: rate_limits}}
    - name: short-outage
      faults:
        - status: {{code: 503}}
          on: {{kind: llm}}
          trigger: {{first: 1, attempts: first}}
    - name: outage
      faults:
        - status: {{code: 503}}
          on: {{kind: llm}}
    # - {{name: broken-streams, profile: stream_chaos}}  # for agents that stream

advanced:
  seed: 42          # the same seed meets the same faults
  concurrency: 4
"""

AGENT = '''\
"""An agent to try faultwire with: one question to a model, with nothing but the standard library.

Put your own in its place: any program, in any language, that takes a prompt and prints an answer. Where there
is none it says so and exits with 2: a caller can tell that from an answer, and from a crash.
"""

import json
import os
import sys
import time
import urllib.error
import urllib.request

URL = os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1") + "/chat/completions"
TRIES = 4
PASSING = (429, 500, 502, 503, 504)


def ask(prompt):
    body = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": prompt}]}
    headers = {
        "Content-Type": "application/json",
        "Authorization": "Bearer " + os.environ.get("OPENAI_API_KEY", "none"),
    }
    request = urllib.request.Request(URL, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=10) as response:
        return json.load(response)["choices"][0]["message"]["content"]


def main():
    for attempt in range(TRIES):
        try:
            print(ask(sys.argv[1]))
            return 0
        except urllib.error.HTTPError as error:
            if error.code not in PASSING or attempt == TRIES - 1:
                print("no answer:", error, file=sys.stderr)
                return 2
            wait = error.headers.get("Retry-After")
            time.sleep(min(float(wait) if wait else 0.2 * 2**attempt, 10))
        except OSError as error:
            print("no answer:", error, file=sys.stderr)
            return 2


sys.exit(main())
'''
