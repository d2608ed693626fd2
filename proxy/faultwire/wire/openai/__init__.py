"""OpenAI: Chat Completions, Responses, Completions, Embeddings, Realtime."""
