"""What a `faultwire.yaml` says: sections, names looked up, variables filled in, every error at once."""
