"""The mock provider: a small deterministic server that speaks the providers' protocols."""
