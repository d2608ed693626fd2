"""An agent on the official anthropic SDK, whose stream helper closes half JSON by itself.

anthropic_streaming.py MANNER [PROMPT]    careless executes what came; careful asks again without a reason to
stop, or where that reason is the limit.
"""

import sys

from anthropic import Anthropic

TOOL = {
    "name": "calculator",
    "description": "Evaluates an arithmetic expression",
    "input_schema": {"type": "object", "properties": {"expression": {"type": "string"}}},
}


def main():
    manner, prompt = sys.argv[1], (sys.argv[2:] or ["What is 6*7?"])[-1]
    client, messages = Anthropic(max_retries=0), [{"role": "user", "content": prompt}]
    for _ in range(6):
        asked = {"model": "claude-sonnet-4-5", "max_tokens": 500, "messages": messages, "tools": [TOOL]}
        with client.messages.stream(**asked) as stream:
            for _event in stream:
                pass
            message = stream.current_message_snapshot
        if manner == "careful" and message.stop_reason not in ("end_turn", "tool_use"):
            continue
        calls = [block for block in message.content if block.type == "tool_use"]
        if not calls:
            print("".join(block.text for block in message.content if block.type == "text"))
            return
        content = [{"type": "tool_use", "id": one.id, "name": one.name, "input": one.input} for one in calls]
        results = [{"type": "tool_result", "tool_use_id": one.id, "content": "42"} for one in calls]
        messages += [{"role": "assistant", "content": content}, {"role": "user", "content": results}]


main()
