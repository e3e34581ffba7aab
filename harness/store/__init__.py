"""Computed things that outlive a process: embeddings, by model identity and text.

Promises: what is read is what was written (checksums), a damaged shard is recomputed and reported; several
processes may use one store; ``kill -9`` loses at most the batch in flight.
"""
