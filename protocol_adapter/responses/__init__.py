"""The OpenAI Responses door: runs as responses, threads as conversations."""
