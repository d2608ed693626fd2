"""Google: Gemini over REST and gRPC, and Interactions."""
