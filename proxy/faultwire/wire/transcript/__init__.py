"""What was said in an exchange, put together for readers."""
