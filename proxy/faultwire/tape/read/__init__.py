"""Reading a tape: from rows to exchanges and histories."""
