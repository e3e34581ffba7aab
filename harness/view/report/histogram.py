"""How often values fall into equal steps, as bars."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from harness.view.report.drawing import picture, rule, written

# Three of them stand side by side.
WIDTH = 330.0
_LEFT, _TOP, _BOTTOM, _HEIGHT = 8.0, 22.0, 40.0, 170.0


def histogram(counts: Sequence[int], edges: Sequence[str], label: str) -> Markup | None:
    """Bars of ``counts``; ``edges`` (one more) are written below the borders. None where nothing was counted."""
    if not sum(counts):
        return None
    foot, step = _HEIGHT - _BOTTOM, (WIDTH - 2 * _LEFT - 16) / len(counts)
    start = _LEFT + 8
    parts = []
    for i, count in enumerate(counts):
        tall = (foot - _TOP) * count / max(counts)
        x, middle = start + i * step, start + (i + 0.5) * step
        if count:
            parts.append(
                Markup(
                    '<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="1.5" class="bar"/>'
                ).format(x + 1.5, foot - tall, step - 3, tall)
            )
            parts.append(written(middle, foot - tall - 5, f"{count:,}", anchor="middle"))
    parts.append(rule(start, foot, start + step * len(counts), foot, "axis"))
    skip = 1 + sum(map(len, edges)) * 7 // int(WIDTH)
    parts += [
        written(start + i * step, foot + 16, edge, anchor="middle")
        for i, edge in enumerate(edges)
        if i % skip == 0
    ]
    parts.append(written(WIDTH / 2, foot + 33, label, anchor="middle", css="title"))
    said = ", ".join(f"{edges[i]} to {edges[i + 1]}: {count}" for i, count in enumerate(counts))
    return picture(_HEIGHT, f"{label}. {said}.", parts, width=WIDTH)
