"""Texts on which backends are compared and timed."""

from __future__ import annotations

COUNT = 32
_PROSE = (
    "The ferry leaves the harbour at seven, unless the wind is stronger than force eight; then it waits. "
    "Tickets cost 12.50 for adults and 6 for children under fourteen, bicycles travel free. Whoever misses the last "
    "boat finds two guest houses behind the lighthouse, both of which serve soup until midnight. In winter the island "
    "has ninety-three inhabitants, a school with one teacher, and a doctor who comes on Thursdays. Letters are flown in "
    "when the sea is frozen. The old lamp was replaced in 1987 by a rotating mirror that is seen from forty kilometres "
    "away; its keeper still climbs the 214 steps every evening, out of habit, as he says. Error E-4711 on the ticket "
    "machine means that the paper has run out: press RESET, wait for the green light, and try again. "
    "Größere Gruppen melden sich bitte vorher an. Le dernier bateau part à dix-neuf heures. "
    "El faro está abierto los domingos. Паром уходит в семь часов. 渡し船は七時に出ます。 "
    "for row in table: total += row[3] * 0.19  # tax "
)


def sample() -> list[str]:
    """32 texts of 1 to about 200 words, each a fifth longer than the one before; no two begin alike."""
    words = _PROSE.split() * 3
    lengths = (max(round(1.186**i), i + 1) for i in range(COUNT))
    return [" ".join(words[5 * i : 5 * i + length]) for i, length in enumerate(lengths)]
