"""An agent on the official async openai SDK whose jobs share a system prompt and run all at once.

parallel_agent.py JOBS         the order in which the jobs call is another one in each run
"""

import asyncio
import json
import random
import sys

from openai import AsyncOpenAI

SYSTEM = {"role": "system", "content": "You are a careful assistant."}


async def job(client, number):
    said = [SYSTEM, {"role": "user", "content": f"Tell me about river {number}."}]
    for question in ("And its source?", None):
        await asyncio.sleep(random.random() / 20)
        answer = await client.chat.completions.create(model="gpt-4o-mini", messages=said)
        said.append({"role": "assistant", "content": answer.choices[0].message.content})
        if question:
            said.append({"role": "user", "content": question})


async def main():
    async with AsyncOpenAI(max_retries=0) as client:
        numbers = list(range(int(sys.argv[1])))
        random.shuffle(numbers)
        await asyncio.gather(*(job(client, number) for number in numbers))
    print(json.dumps({"done": len(numbers)}))


asyncio.run(main())
