"""panel_adjusted.csv compares several models with a panel; a model may be primary."""

from dataclasses import replace

import numpy as np
import pytest

from analysis import Bundle, Options, panel_adjusted, reader_panel
from tests.unit.analysis.conftest import MakeBundle

MODELS = ("M1", "M2", "M3")


def _bundle(make_bundle: MakeBundle, primary: str = "") -> Bundle:
    random = np.random.default_rng(8)
    answers = {name: "".join(random.choice(list("AAB"), 30)) for name in ("R1", "R2", "R3")}
    shares = ((15, 15), (24, 6), (29, 1))
    answers |= {m: "A" * a + "B" * b for m, (a, b) in zip(MODELS, shares, strict=True)}
    bundle = make_bundle("A" * 30, answers, models=MODELS)
    return replace(bundle, protocol={"primary_model": primary})


def test_every_row_of_the_panel_is_adjusted_for_the_number_of_models(
    make_bundle: MakeBundle,
) -> None:
    """Holm's adjustment is computed by hand for each claim, for the difference and the margin."""
    bundle, options = _bundle(make_bundle), Options(margin=0.05)
    table, panel = panel_adjusted(bundle, options), reader_panel(bundle, options)
    keys = ["model_id", "condition", "metric", "claim"]
    assert table[keys].to_numpy().tolist() == panel[keys].to_numpy().tolist()
    for claim in ("these readers", "readers like these"):
        rows = table.loc[table["claim"] == claim]
        for column in ("p", "p_noninferior"):
            ordered = rows.sort_values(column)
            expected, last = [], 0.0
            for factor, p in zip((3, 2, 1), ordered[column], strict=True):
                last = max(last, min(1.0, factor * p))
                expected.append(last)
            assert ordered[f"{column}_adjusted"].tolist() == pytest.approx(expected)
    assert set(table["family"]) == {"accuracy, these readers", "accuracy, readers like these"}


def test_the_p_value_of_a_primary_model_is_not_adjusted(make_bundle: MakeBundle) -> None:
    """The other models are a family of two."""
    table = panel_adjusted(_bundle(make_bundle, primary="M2")).set_index(["model_id", "claim"])
    primary, other = table.loc[("M2", "these readers")], table.loc[("M1", "these readers")]
    assert (primary["p_adjusted"], primary["family"]) == (primary["p"], "")
    assert other["p_adjusted"] <= min(1.0, 2 * other["p"])
    complete = panel_adjusted(_bundle(make_bundle)).set_index(["model_id", "claim"])
    assert other["p_adjusted"] <= complete.loc[("M1", "these readers"), "p_adjusted"]


def test_a_primary_model_without_answers_changes_nothing(make_bundle: MakeBundle) -> None:
    """No other model becomes the primary model."""
    first, other = (panel_adjusted(_bundle(make_bundle, name)) for name in ("", "M9"))
    assert first["p_adjusted"].tolist() == other["p_adjusted"].tolist()
