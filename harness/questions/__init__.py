"""What makes and mends golden sets: questions written by a model, imported, and checked."""
