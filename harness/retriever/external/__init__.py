"""External retrievers are asked first; the rows that come back become the chunks.

Rows become spans of the documents; what can't be found keeps its rank, is not relevant, and is counted and
named.
"""
