"""What a tape is made of: its file, its events, their chain and their rules."""
