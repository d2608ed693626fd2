"""The way of one exchange, from its request head to its ledger. No socket, no clock."""
