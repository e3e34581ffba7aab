"""Golden sets: questions written by a model, imported, and checked."""
