"""What difference so many questions can show."""

from __future__ import annotations

from harness.questions.check import Finding, Look, counted

_ENOUGH = 0.1  # a difference of ten points is about what changing the model brings


def power(questions: int, clusters: int, minimum_detectable_effect: float | None, cells: int) -> Look:
    """The smallest difference between two of ``cells`` configurations that ``questions`` about ``clusters`` texts show; None where they show none."""
    about = f"{counted(questions, 'question', 'questions')} about {counted(clusters, 'text', 'texts')}"
    if minimum_detectable_effect is None:
        finding = Finding(
            "too few",
            "serious",
            (),
            f"{about[0].upper() + about[1:]} are too few for any verdict.",
            "Add questions, about at least ten different documents or parts of long ones; 150 are a beginning.",
        )
        return Look("questions", about, (finding,))
    points = 100 * minimum_detectable_effect
    fact = f"{about}; differences below {points:.0f} points in recall@5 will not be separable ({cells} configurations)"
    if minimum_detectable_effect <= _ENOUGH:
        return Look("questions", fact)
    finding = Finding(
        "few questions",
        "note",
        (),
        f"With {about}, two of {cells} configurations must differ by {points:.0f} points before that is more than chance.",
        "Add questions: four times as many show half the difference.",
    )
    return Look("questions", fact, (finding,))
