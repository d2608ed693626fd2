"""Agents that go on until the model says the words or makes the call that end them.

stepping_agent.py code|tools|react STEPS QUESTION    prints how it ended as one JSON object

`code` and `tools` are those of smolagents: the model writes programs that call tools, or calls tools; both
end by `final_answer`. `react` is a loop of one's own over the openai SDK: it runs the program in each
answer, and ends at `Final Answer:`.
"""

import json
import re
import sys

RAN = []


def search(query: str) -> str:
    """Looks something up.

    Args:
        query: what to look for
    """
    RAN.append(query)
    return f"2860 km is what is known about {query}"


def smolagents(kind, steps, question):
    from smolagents import CodeAgent, OpenAIModel, ToolCallingAgent, tool

    agent = {"code": CodeAgent, "tools": ToolCallingAgent}[kind](
        tools=[tool(search)], model=OpenAIModel(model_id="gpt-4o"), max_steps=steps, verbosity_level=0
    )
    done = agent.run(question, return_full_result=True)
    return {"answer": str(done.output), "state": done.state, "steps": len(done.steps) - 1}


def react(steps, question):
    from openai import OpenAI

    client = OpenAI()
    messages = [
        {"role": "system", "content": "Write programs between ```python and ```; end with `Final Answer:`."},
        {"role": "user", "content": question},
    ]
    for step in range(1, steps + 1):
        said = client.chat.completions.create(model="gpt-4o", messages=messages).choices[0].message.content
        if "Final Answer:" in said:
            answer = said.partition("Final Answer:")[2].strip()
            return {"answer": answer, "state": "success", "steps": step}
        messages.append({"role": "assistant", "content": said})
        program = re.search(r"```python\n(.*?)```", said, re.DOTALL)
        seen = "no program"
        if program:
            names = {"search": search}
            exec(program[1], names)  # as such agents do
            seen = names.get("found")
        messages.append({"role": "user", "content": f"Observation: {seen}"})
    return {"answer": "", "state": "max_steps_error", "steps": steps}


kind, steps, question = sys.argv[1], int(sys.argv[2]), sys.argv[3]
told = react(steps, question) if kind == "react" else smolagents(kind, steps, question)
print(json.dumps({**told, "ran": RAN}))
