"""An agent on the official OpenAI Agents SDK that streams, with the SDK's tracing as it is by default.

agents_sdk.py PROMPT    Whatever the SDK raises ends it.
"""

import asyncio
import sys

from agents import Agent, Runner


async def main():
    running = Runner.run_streamed(Agent(name="plain", model="gpt-4o-mini"), sys.argv[-1])
    async for _event in running.stream_events():
        pass
    print(running.final_output)


asyncio.run(main())
