"""Mutations: other ways to ask the same, and attacks around it; pure, seeded, without a model."""
