"""An agent on the official openai SDK with two tools of its own process, `search` and `send_mail`.

openai_tools.py PROMPT    It does what the model says, and prints what the model says last.
"""

import sys

from openai import OpenAI


def tool(name, *parameters):
    properties = {one: {"type": "string"} for one in parameters}
    return {
        "type": "function",
        "function": {"name": name, "parameters": {"type": "object", "properties": properties}},
    }


TOOLS = [tool("search", "query"), tool("send_mail", "to", "text")]
RESULTS = {"search": "Tea is a drink and costs 4.20 dollars.", "send_mail": "sent"}


def main():
    client, messages = OpenAI(max_retries=0), [{"role": "user", "content": sys.argv[-1]}]
    for _ in range(6):
        answer = client.chat.completions.create(model="gpt-4o-mini", messages=messages, tools=TOOLS)
        message = answer.choices[0].message
        messages.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            print(message.content)
            return
        for call in message.tool_calls:
            text = RESULTS[call.function.name]
            messages.append({"role": "tool", "tool_call_id": call.id, "content": text})
    sys.exit("the model did not come to an end")


main()
