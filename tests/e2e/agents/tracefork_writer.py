"""Writes a tape in every form that the installed tracefork has: a 429, then an answer. Prints its digest.

Arguments: the folder, and the text of the answer.
"""

import inspect
import json
import sys
from pathlib import Path

from tracefork.store import TapeStore
from tracefork.tape import Tape

out = Path(sys.argv[1])
asked = {"model": "claude-x", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
refused = {"type": "error", "error": {"type": "rate_limit_error", "message": "slow"}, "request_id": "r"}
answered = {"type": "message", "role": "assistant", "model": "claude-x", "stop_reason": "end_turn"}
answered["content"] = [{"type": "text", "text": sys.argv[2] if len(sys.argv) > 2 else "hello"}]

tape = Tape(agent_name="shop agent")
tape.draws = [("clock", "1.5"), ("uuid", "x\nD:y:z")]
taken = set(inspect.signature(tape.append_exchange).parameters)
for status, answer in ((429, refused), (200, answered)):
    witnesses = {
        "request_url": "https://api.anthropic.com/v1/messages",
        "response_status": status,
        "response_content_type": "application/json",
    }
    known = {name: value for name, value in witnesses.items() if name in taken}
    tape.append_exchange(json.dumps(asked).encode(), json.dumps(answer).encode(), **known)
tape.save(str(out / "tape.sqlite"))
(out / "tape.bin").write_bytes(tape.to_bytes())
TapeStore(str(out / "store.db")).save_tape(tape, run_id="run-1")
print(tape.digest())
