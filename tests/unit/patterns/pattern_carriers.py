"""Twenty-six places where a secret is found, and instances of each kind from its template."""

from __future__ import annotations

import json
import re
from random import Random

LOWER, DIGITS = "abcdefghijklmnopqrstuvwxyz", "0123456789"
CLASSES = {
    "d": DIGITS,
    "hex": DIGITS + "abcdef",
    "HEX": DIGITS + "ABCDEF",
    "l": LOWER,
    "L": LOWER.upper(),
    "a": LOWER + DIGITS,
    "A": LOWER.upper() + DIGITS,
    "x": LOWER + LOWER.upper() + DIGITS,
    "u": LOWER + LOWER.upper() + DIGITS + "_-",
    "b64": LOWER + LOWER.upper() + DIGITS + "+/",
    "b32": LOWER.upper() + "234567",
    "b58": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
}


def instance(template: str, random: Random) -> str:
    """Fills `{class count}`."""

    def fill(match: re.Match[str]) -> str:
        alphabet = CLASSES.get(match[1], match[1])
        return "".join(random.choice(alphabet) for _ in range(int(match[2])))

    return re.sub(r"\{([^{} ]+) (\d+)\}", fill, template)


def carriers(name: str, value: str) -> dict[str, str]:
    """`value` under `name` in every carrier."""
    upper, camel = name.upper(), re.sub(r"_(\w)", lambda m: m[1].upper(), name)
    return {
        "env": f"{upper}={value}",
        "export": f'export {upper}="{value}"',
        "dotenv": f"DEBUG=1\n{upper}='{value}'\nPORT=80",
        "json": json.dumps({"user": "ann", name: value}),
        "json-nested": json.dumps({"config": {"auth": {camel: value, "on": True}}}, indent=2),
        "json-in-json": json.dumps({"log": json.dumps({name: value})}),
        "yaml": f"auth:\n  {name}: {value}\n  on: true\n",
        "yaml-quoted": f'{name}: "{value}"',
        "toml": f'[auth]\n{name} = "{value}"\n',
        "ini": f"[auth]\n{name} = {value}\n",
        "header": f"X-{name.title().replace('_', '-')}: {value}\r\nAccept: */*",
        "curl": f"curl -H '{name.title().replace('_', '-')}: {value}' https://api.firm.net/v1",
        "url-query": f"https://api.firm.net/v1/x?page=2&{name}={value}",
        "cli-flag": f"deploy --{name.replace('_', '-')}={value} --force",
        "python": f'{name} = "{value}"  # from the console',
        "python-dict": f'client(base="x", options={{"{name}": "{value}"}})',
        "javascript": f"const {camel} = '{value}';",
        "typescript": f'export const {camel}: string = "{value}";',
        "go": f'var {camel} = "{value}"\n',
        "java": f'private static final String {upper} = "{value}";',
        "ruby": f"config.{name} = '{value}'",
        "php": f"define('{upper}', '{value}');",
        "rust": f'const {upper}: &str = "{value}";',
        "xml": f"<config><{name}>{value}</{name}></config>",
        "log": f"2025-11-21T10:00:00Z DEBUG loaded {name}={value} from vault",
        "markdown": f"| {name} | `{value}` |\n",
        "escaped": json.dumps(f"first line\n{name}={value}\n")[1:-1],
    }
