"""An agent that asks for a price, on a framework of its own: prints its answer.

looking_agent.py FRAMEWORK      FRAMEWORK: pydantic-ai, ag2
"""

from __future__ import annotations

import asyncio
import sys
import warnings

warnings.simplefilter("ignore")
QUESTION = "What does the tea cost?"


def price(item: str) -> str:
    """Gives the price of an item in euros.

    Args:
        item: what is sold
    """
    return '{"price": 120}'


def order(item: str, amount: int) -> str:
    """Orders an item.

    Args:
        item: what is sold
        amount: how much is paid for it
    """
    return '{"id": "ORD-5", "status": "placed"}'


def pydantic_ai() -> str:
    from pydantic_ai import Agent

    return Agent("openai-chat:gpt-4o-mini", tools=[price, order]).run_sync(QUESTION).output


def ag2() -> str:
    from ag2 import Agent, tool
    from ag2.config import OpenAIConfig

    model = OpenAIConfig(model="gpt-4o-mini")
    agent = Agent("looker", prompt="You look prices up.", config=model, tools=[tool(price), tool(order)])
    return asyncio.run(agent.ask(QUESTION)).body


print({"pydantic-ai": pydantic_ai, "ag2": ag2}[sys.argv[1]]())
