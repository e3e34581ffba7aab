"""The report of a sweep: one HTML file that needs no network, made in Python and readable without JavaScript.

``page.py`` puts it together from a ``FinishedSweep`` and its verdict; each chart has a module;
``templates/`` holds the markup, ``report.css`` and ``report.js`` are inlined. Everything that comes from
documents, questions or settings is escaped where it is written: Jinja2's autoescape in templates,
``textContent`` in JavaScript.
"""
