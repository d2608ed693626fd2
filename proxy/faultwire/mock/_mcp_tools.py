"""The tools that the mock's MCP server has."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.wire.json_bytes import Object


@dataclass(frozen=True, slots=True)
class Given:
    """What a tool gives back: words, and values where it has a schema of them."""

    text: str
    values: Object | None = None
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class McpTool:
    """A tool: what it is called with and what it gives, as JSON Schemas, and what it does."""

    name: str
    description: str
    arguments: Object
    run: Callable[[Object], Given]
    gives: Object | None = None

    def listed(self) -> Object:
        """Its entry in `tools/list`."""
        entry = {"name": self.name, "description": self.description, "inputSchema": self.arguments}
        return entry if self.gives is None else {**entry, "outputSchema": self.gives}


def stated_tool(name: str, description: str, result: Any, *, is_error: bool = False) -> McpTool:
    """A tool that always says the same: a text, or JSON."""
    text = result if isinstance(result, str) else orjson.dumps(result).decode()
    return McpTool(name, description, {"type": "object"}, lambda _: Given(text, is_error=is_error))


@dataclass(slots=True)
class Shop:
    """A small service with something to count: weather, a search, and orders that are kept."""

    orders: list[str] = field(default_factory=list)

    def tools(self) -> tuple[McpTool, ...]:
        """Its tools."""
        weather = _object(city="string", temperature_c="number", sky="string")
        return (
            McpTool("get_weather", "The weather in a city.", _object(city="string"), _weather, weather),
            McpTool("web_search", "Search the web.", _object(query="string"), _search),
            McpTool("create_order", "Order an item.", _object(item="string"), self._order),
            McpTool("list_orders", "All orders so far.", {"type": "object"}, self._orders),
        )

    def _order(self, asked: Object) -> Given:
        item = asked.get("item")
        if not isinstance(item, str) or not item:
            return Given("Error: `item` is required", is_error=True)
        self.orders.append(item)
        return Given(f"Order A-{1000 + len(self.orders)} for {item} is placed.")

    def _orders(self, _: Object) -> Given:
        return Given(orjson.dumps({"count": len(self.orders), "items": self.orders}).decode())


def _weather(asked: Object) -> Given:
    city = asked.get("city")
    if not isinstance(city, str) or not city:
        return Given("Error: `city` is required", is_error=True)
    values = {"city": city, "temperature_c": 22, "sky": "clear"}
    return Given(orjson.dumps(values).decode(), values)


def _search(asked: Object) -> Given:
    query = str(asked.get("query") or "")
    hits = [{"title": f"About {query}", "url": "https://example.com/1", "score": 87}]
    return Given(orjson.dumps({"query": query, "hits": hits}).decode())


def _object(**members: str) -> Object:
    properties = {name: {"type": kind} for name, kind in members.items()}
    return {"type": "object", "properties": properties, "required": list(members)}
