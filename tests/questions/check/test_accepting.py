from __future__ import annotations

import pytest

from harness.questions.check.accepting import new_span

OLD = "Parcels are returned within forty-five days of delivery, and the depot pays the postage both ways."
AROUND = "We are open. Ask at the desk of the depot.\n\n{}\n\nThe depot closes at noon and the days are long. Bring the parcels."


@pytest.mark.parametrize(
    "new",
    [
        OLD,
        OLD.replace("forty-five", "thirty"),
        OLD.replace("Parcels are", "Packages will be"),
        OLD.replace("both ways.", "to you only."),
        OLD.replace("of delivery,", "of delivery, counted from the stamp on the slip,"),
        OLD.replace(", and the depot pays the postage both ways", ""),
    ],
    ids=["same", "inside", "head", "tail", "longer", "shorter"],
)
@pytest.mark.parametrize("near", [0, 44, 90])
def test_the_edited_passage_is_found_whole(new, near):
    """Whatever part was edited, the span begins and ends with the passage, not with words that recur around it."""
    text = AROUND.format(new)
    start, end = new_span(OLD, text, near)

    assert text[start:end] == new


def test_nothing_alike_has_no_span():
    """Where no word is left there is no span."""
    assert new_span("red hen", "old grey owls sleep", 0) is None
    assert new_span("red hen", "", 0) is None
