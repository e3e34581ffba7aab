"""One cell of a sweep: its components are built from the configuration, and run in their order."""
