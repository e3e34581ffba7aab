"""What every command shares: words, values, configuration, messages."""
