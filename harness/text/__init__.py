"""What is known of texts alone: tokens, words, Markdown, encodings, and where a text stands in another."""
