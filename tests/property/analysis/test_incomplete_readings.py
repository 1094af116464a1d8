"""Properties of U-statistics of incomplete designs, for random readings."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from analysis.statistics import mrmc
from analysis.statistics.mrmc.second_moments import Observations
from analysis.statistics.mrmc.u_statistics import u_statistic
from tests.conftest import number_of_examples


@st.composite
def scores(draw: st.DrawFn, n_axes: int = 2) -> Observations:
    """Return up to four readers and five cases, with gaps."""
    shape = draw(st.tuples(st.integers(2, 4), *[st.integers(2, 5 - n_axes + 2)] * (n_axes - 1)))
    design = draw(arrays.arrays(np.bool_, shape)).astype(float)
    kernel = design * draw(arrays.arrays(np.int64, shape, elements=st.integers(0, 3)))
    return Observations(kernel=kernel, design=design)


def plain_covariance(a: Observations, b: Observations) -> float:
    """Return the squared mean minus the mean product of readings of other readers and cases."""
    cells = [list(zip(*np.nonzero(each.design), strict=True)) for each in (a, b)]

    def apart(first: tuple[int, ...], second: tuple[int, ...]) -> bool:
        if a.same_patients:
            return first[0] != second[0] and not {*first[1:]} & {*second[1:]}
        return all(i != j for i, j in zip(first, second, strict=True))

    independent = [
        a.kernel[first] * b.kernel[second]
        for first, second in product(*cells)
        if apart(first, second)
    ]
    assume(independent)
    return a.mean * b.mean - float(np.mean(independent))


@settings(max_examples=number_of_examples(40))
@given(scores(), st.data())
def test_variances_equal_their_definition(a: Observations, data: st.DataObject) -> None:
    """The estimates are a mean, and a difference of two means whose gaps differ."""
    b = Observations(
        kernel=a.kernel[::-1] * 1.0,
        design=a.design[::-1] * 1.0,
    )
    if data.draw(st.booleans()):
        b = Observations(kernel=a.kernel[:, ::-1], design=a.design[:, ::-1])
    expected = [plain_covariance(*pair) for pair in ((a, a), (b, b), (a, b))]
    assert u_statistic(a).variance == pytest.approx(expected[0], abs=1e-9)
    difference = expected[0] + expected[1] - 2 * expected[2]
    assert u_statistic(a, b).variance == pytest.approx(difference, abs=1e-9)


@settings(max_examples=number_of_examples(15))
@given(scores(n_axes=3))
def test_variances_of_areas_equal_a_plain_sum(a: Observations) -> None:
    """Readings that share a reader, a positive or a negative case depend on each other."""
    assert u_statistic(a).variance == pytest.approx(plain_covariance(a, a), abs=1e-9)


@settings(max_examples=number_of_examples(15))
@given(scores(n_axes=3), st.booleans())
def test_variances_of_areas_equal_a_plain_sum_where_patients_have_both_classes(
    pairs: Observations, reverse: bool
) -> None:
    """Pairs of cases are dependent if a patient is in both, on the same or on the other side."""
    n = min(pairs.kernel.shape[1:])
    a = Observations(
        kernel=pairs.kernel[:, :n, :n], design=pairs.design[:, :n, :n], same_patients=True
    )
    assert u_statistic(a).variance == pytest.approx(plain_covariance(a, a), abs=1e-9)
    if reverse:
        b = replace(a, kernel=a.kernel[::-1], design=a.design[::-1])
        covariances = [plain_covariance(*pair) for pair in ((a, a), (b, b), (a, b))]
        difference = float(np.dot(covariances, [1, 1, -2]))
        assert u_statistic(a, b).variance == pytest.approx(difference, abs=1e-9)


@settings(max_examples=number_of_examples(30))
@given(scores())
def test_components_and_moments_give_the_same_variance(a: Observations) -> None:
    """BCK and BDG give the same variance, and the order of readers and cases does not matter."""
    result = u_statistic(a)
    assume(not result.undefined_because)
    (moments,) = result.moments
    in_components = float(moments.components[1:] @ moments.component_coefficients[1:])
    assert in_components == pytest.approx(result.variance, abs=1e-9)
    mirrored_result = Observations(kernel=a.kernel[::-1, ::-1], design=a.design[::-1, ::-1])
    second = u_statistic(mirrored_result)
    assert (second.variance, second.df_bdg, second.df_bck) == pytest.approx(
        (result.variance, result.df_bdg, result.df_bck), rel=1e-6, abs=1e-9
    )


@settings(max_examples=number_of_examples(40))
@given(arrays.arrays(np.bool_, st.tuples(st.integers(3, 8), st.integers(2, 4))))
def test_the_variance_of_complete_readings_matches_obuchowski_and_rockette(
    correct: np.ndarray,
) -> None:
    """On a fully crossed study without a negative covariance, the methods agree."""
    panel = mrmc.single_treatment(mrmc.percent_correct(correct), constrain=False)
    expected = (panel.msr + panel.n_readers * panel.cov2) / panel.n_readers
    kernel = correct.T.astype(float)
    result = u_statistic(Observations(kernel=kernel, design=np.ones_like(kernel)))
    assert result.estimate == pytest.approx(panel.random_readers.estimate)
    assert result.variance == pytest.approx(expected, abs=1e-10)
