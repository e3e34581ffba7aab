"""Retrievers with chunks of their own, measured like the built ones: they are asked first, and what comes back becomes the chunks.

Rows become spans of the documents; what can't be found keeps its rank, is not relevant, and is counted and named.
"""
