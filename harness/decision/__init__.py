"""From a finished sweep to an answer: which configuration to deploy, and whether it still holds."""
