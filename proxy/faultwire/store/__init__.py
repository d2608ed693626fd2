"""What a team shares: results of runs in a database, and tapes in an object store."""
