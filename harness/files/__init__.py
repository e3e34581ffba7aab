"""Files that survive a kill: atomic writes, archives, journals, locks, digests, the hub."""
