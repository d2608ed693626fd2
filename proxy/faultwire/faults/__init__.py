"""Ways of breaking an exchange, one a file. `_api` says what a fault is, `_registry` which there are."""
