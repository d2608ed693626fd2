"""`python -m tests.bench.plot FILE SVG`: the ratios of a run (`--json FILE`) as a picture.

Each row is the CPU of an exchange through faultwire, armed and recording, over that of bare mitmdump: the
median of its rounds, and their range. The axis is logarithmic; left of 1 is cheaper than mitmdump.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

WIDTH, LEFT, RIGHT, LINE, TOP = 860, 330, 60, 20, 56
TICKS = (0.25, 0.5, 1, 2, 4, 8, 16)
STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#222}.t{font-weight:600}.n{text-anchor:end}"
    ".a{text-anchor:middle;fill:#666}.g{stroke:#ddd}.one{stroke:#666}.r{stroke:#2a6f97;stroke-width:3}"
    ".m{fill:#2a6f97}.w{fill:#fff}"
)


def drawn(document: dict[str, Any]) -> str:
    """The picture. Raises ValueError where no row has a ratio to mitmdump."""
    rows = [row for row in document["rows"] if row["ratios"] and row["baseline"] == "mitmdump"]
    if not rows:
        raise ValueError("found no ratio to mitmdump in the file")
    low = min(0.5, *(min(row["ratios"]) for row in rows))
    high = max(2.0, *(max(row["ratios"]) for row in rows))
    height = TOP + LINE * len(rows) + 16

    def x(ratio: float) -> float:
        share = math.log(ratio / low) / math.log(high / low)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
        f"<title>{escape('CPU of an exchange through faultwire over bare mitmdump')}</title>",
        f'<style>{STYLE}</style><rect class="w" width="{WIDTH}" height="{height}"/>',
        f'<text class="t" x="12" y="20">CPU of an exchange, armed and recording: multiples of bare mitmdump '
        f"(median, range of the rounds; {document['date'][:10]})</text>",
    ]
    for tick in TICKS:
        if low <= tick <= high:
            line = "one" if tick == 1 else "g"
            parts.append(f'<path class="{line}" d="M{x(tick):.1f} {TOP - 8}V{height - 12}"/>')
            parts.append(f'<text class="a" x="{x(tick):.1f}" y="{TOP - 14}">{tick:g} ×</text>')
    for number, row in enumerate(rows):
        y = TOP + LINE * number + LINE / 2
        first, last = x(min(row["ratios"])), x(max(row["ratios"]))
        parts.append(f'<text class="n" x="{LEFT - 12}" y="{y + 4:.1f}">{escape(row["title"])}</text>')
        parts.append(f'<path class="r" d="M{first:.1f} {y:.1f}H{last:.1f}"/>')
        parts.append(f'<circle class="m" cx="{x(row["ratio"]):.1f}" cy="{y:.1f}" r="4.5"/>')
        parts.append(f'<text x="{last + 9:.1f}" y="{y + 4:.1f}">{row["ratio"]:.2f}</text>')
    return "\n".join([*parts, "</svg>", ""])


def main() -> int:
    if len(sys.argv) != 3:
        print("usage: python -m tests.bench.plot FILE SVG", file=sys.stderr)
        return 2
    Path(sys.argv[2]).write_text(drawn(json.loads(Path(sys.argv[1]).read_text())))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
