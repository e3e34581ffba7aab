"""Finished cells and sweeps on disk: written, found, and read again."""
