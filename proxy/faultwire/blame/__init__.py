"""Which step made the outcome: interventions on repeated runs, and what each of them changes."""
