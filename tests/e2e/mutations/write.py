"""Writes mutants by the model engine, a program: `write.py SITE PROVIDER BASE_URL CACHE COUNT TYPE…`.

SITE holds the provider's SDK, in an environment of its own, as if it had been installed beside faultwire.
Prints the mutants and notes as JSON, or the error.
"""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])

from faultwire.config.model import ModelSettings, MutationSettings
from faultwire.errors import FaultwireError
from faultwire.mutations.make import mutants

PROMPT = "What is the capital of France?"


def main() -> None:
    provider, base_url, cache, count, *types = sys.argv[2:]
    model = ModelSettings(
        provider=provider, name="a-model", base_url=base_url, api_key=os.environ.get("MODEL_KEY")
    )
    settings = MutationSettings(engine="model", count=int(count), types=tuple(types))
    try:
        made = mutants(PROMPT, settings, seed=42, model=model, cache=Path(cache))
    except FaultwireError as error:
        print(json.dumps({"error": error.code, "message": error.message, "hint": error.hint}))
        return
    told = [{"type": m.type, "text": m.text, "how": m.how} for m in made.mutants]
    print(json.dumps({"mutants": told, "notes": made.notes}))


main()
