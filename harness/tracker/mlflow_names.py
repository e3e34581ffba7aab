"""Names of metrics in MLflow: few without a prefix, all others in sections, made from the flat names.

The runs table and the run's page list metrics without a prefix first and make a section of each prefix. Names
are cut at about 22 characters on the cards of the charts page, prefixes at ten.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

LONGEST = 22
MOST_UNPREFIXED = 12
# A run's page can be read with 60 metrics. Six of them are noted apart: two curves, the limits of the primary
# metric, and those of another one by which a cell was picked.
MOST_METRICS = 54
# The curves that MLflow draws from their points; any other metric is one number.
CURVES = ("recall", "ndcg")
SECTIONS = ("budget", "at_k", "ci", "health", "diagnosis", "time")

_HEAD = ("mrr", "recall_at_2000_tokens", "truncated_evidence", "context_tokens", "query_ms_p95", "chunks")
_REFUSED = re.compile(r"[^\w\-.:/ ]", re.ASCII)
_SECTION_OF = (
    ("diagnosis", re.compile(r"^diagnosis_")),
    ("budget", re.compile(r"_at_\d+_tokens$|_over_budgets$")),
    ("at_k", re.compile(r"_at_\d+$")),
    ("time", re.compile(r"(^|_)(seconds|ms|s)(_|$)")),
    (
        "health",
        re.compile(r"^(truncated|lost|chunk|context|index|cache|documents|questions|token|text|evidence)"),
    ),
    ("health", re.compile(r"_(mb|tokens|chunks|hits|questions|documents)(_|$)")),
)


@dataclass(frozen=True)
class MetricNames:
    """The names of one sweep's metrics in MLflow.

    ``primary`` is the metric that decides; ``k`` is the cut at which recall, nDCG, precision and context are
    shown without a prefix.
    """

    primary: str
    k: int

    @property
    def head(self) -> tuple[str, ...]:
        """The flat names that get no prefix, at most 12: the primary metric with its interval comes first."""
        at_k = (f"recall_at_{self.k}", f"ndcg_at_{self.k}", f"precision_at_{self.k}")
        names = (self.primary, f"{self.primary}_lo", f"{self.primary}_hi", *at_k, *_HEAD, "embed_seconds")
        return tuple(dict.fromkeys(names))[:MOST_UNPREFIXED]

    @property
    def _limits(self) -> dict[str, str]:
        """The primary metric's limits under names that fit a narrow column beside it."""
        return {f"{self.primary}_{end}": f"ci95_{end}" for end in ("lo", "hi")}

    @property
    def _context(self) -> str:
        return f"context_tokens_at_{self.k}"

    def of(self, flat: str) -> str:
        """The name in MLflow of one flat name: unprefixed, or ``section/name``.

        ``context_tokens_at_k`` at the shown ``k`` is called ``context_tokens``, and the limits of the primary
        metric ``ci95_lo`` and ``ci95_hi``. Characters that MLflow refuses become ``_``; a name that already
        has a section keeps it.
        """
        if flat in self._limits:
            return self._limits[flat]
        name = _REFUSED.sub("_", flat)
        if name == self._context:
            return "context_tokens"
        if name in self.head:
            return shortened(name)
        if "/" in name:
            return name
        section = _section(name)
        if section == "diagnosis":
            name = name.removeprefix("diagnosis_")
        elif section == "budget":
            # Short names too, so that all stand beside each other.
            name = name.replace("_at_", "_")
        return f"{section}/{shortened(name)}"

    def renamed(self, metrics: Mapping[str, float]) -> dict[str, float]:
        """The metrics under their MLflow names, the primary first, then the unprefixed ones, then by section.

        Of metrics at a cut, only those at ``k``: recall and nDCG at every cut are curves, and all others are
        in the run's files. At most 54, those of whole documents last. Where two names would be shortened to
        the same one, the later keeps its full length.
        """
        head = self.head
        rank = {name: i for i, name in enumerate(head)} | {self._context: head.index("context_tokens")}
        sections = {section: len(head) + i for i, section in enumerate(SECTIONS)}
        cut = re.compile(rf"_at_(?!{self.k}$)\d+$")
        order = sorted(
            (name for name in metrics if name in rank or not cut.search(name)),
            key=lambda name: (name.startswith("document_"), rank.get(name, sections[_section(name)])),
        )
        renamed: dict[str, float] = {}
        for flat in order[:MOST_METRICS]:
            name = self.of(flat)
            if name in renamed:
                name = f"{_section(flat)}/{_REFUSED.sub('_', flat)}"
            renamed[name] = metrics[flat]
        return renamed


def curve_name(curve: str) -> str:
    """The name of a curve over k. MLflow shows its last point as its value, so it stands in its section."""
    return f"at_k/{curve}"


def shown_k(primary: str, params: Mapping[str, str]) -> int:
    """The cut whose metrics have no prefix: the primary metric's, else the sweep's ``primary_k``, else 5."""
    match = re.search(r"_at_(\d+)$", primary)
    return int(match[1] if match else params.get("primary_k", "5"))


def shortened(name: str) -> str:
    """The name in at most 22 characters, where that is possible without losing a number or a word."""
    for long, short in (
        ("_at_", "_"),
        ("tokens", "tok"),
        ("precision", "prec"),
        ("complete", "compl"),
        ("document", "doc"),
    ):
        if len(name) <= LONGEST:
            break
        name = name.replace(long, short)
    return name


def sections_of(names: Iterable[str]) -> list[str]:
    """The sections that occur, in the order in which they are shown; unknown ones come last, by name."""
    found = {name.rsplit("/", 1)[0] for name in names if "/" in name}
    return [s for s in SECTIONS if s in found] + sorted(found.difference(SECTIONS))


def _section(name: str) -> str:
    if name.endswith(("_lo", "_hi")):
        return "ci"
    matches = (section for section, pattern in _SECTION_OF if pattern.search(name))
    # The rest measures quality over the whole ranking (precision_omega, or a user's own metric).
    return next(matches, "at_k")
