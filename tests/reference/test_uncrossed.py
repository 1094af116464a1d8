"""U-statistics of incomplete designs against the stored results of iMRMC (commit ad589e5).

`data/imrmc_split_plot.csv` is the split-plot study of iMRMC's `test_uStat11_splitPlot.Rdata`: 38
cases, 8 readers in 3 groups, reader 5 absent under A and case 5 under B. iMRMC is in the public
domain (CC0). The readings behind its AUC example (`test_doIMRMC_R1`) are not published; its moments
are, and all results of the moments are checked.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t

from analysis.statistics.mrmc.second_moments import Moments, Observations
from analysis.statistics.mrmc.u_statistics import UStatistic, statistic_of_moments, u_statistic

SPLIT_PLOT = Path(__file__).parent / "data" / "imrmc_split_plot.csv"
# iMRMC's order of moments (c0r0, c1r0, c0r1, c1r1) as bit masks: 1 the reader, 2 the case.
MASKS = [0, 2, 1, 3]
# iMRMC's M1 to M8 and N, D, ND, R, NR, DR, RND: 1 the reader, 2 the positive, 4 the negative case.
M1_TO_M8 = [7, 3, 5, 1, 6, 2, 4, 0]
BCK_ORDER = [4, 2, 6, 1, 5, 3, 7]


def split_plot(*, difference: bool) -> tuple[Observations, Observations]:
    """Return the scores under A and B, or A minus B where a reader read a case under both."""
    rows = pd.read_csv(SPLIT_PLOT)
    tables = [
        rows[rows["modality"] == name]
        .pivot(index="reader", columns="case", values="score")
        .reindex(index=range(8), columns=range(38))
        .to_numpy()
        for name in "AB"
    ]
    if difference:
        tables = [tables[0] - tables[1], tables[1] - tables[0]]
    a, b = (
        Observations(kernel=np.nan_to_num(table), design=np.isfinite(table).astype(float))
        for table in tables
    )
    return a, b


def test_split_plot_means_and_variances_match_imrmc() -> None:
    """Source: uStat11.jointD with kernel identity. The variance of A minus B is negative."""
    a, b = split_plot(difference=False)
    results = [u_statistic(a), u_statistic(b), u_statistic(a, b)]
    assert [result.estimate for result in results] == pytest.approx(
        [1.19898868078, 1.14801549366, 0.0509731871231], abs=1e-11
    )
    assert [result.variance for result in results] == pytest.approx(
        [0.0169590552852, 0.0281112875622, -0.00184657558432], abs=1e-12
    )


def test_split_plot_moments_match_imrmc() -> None:
    """Moments of A, of B and of both, and the shares of their pairs are compared."""
    moments = u_statistic(*split_plot(difference=False)).moments
    assert np.array([each.unbiased[MASKS] for each in moments]) == pytest.approx(
        np.array(
            [
                [1.42061480135, 2.00844167815, 1.40025384172, 2.3233977062],
                [1.28982828611, 1.84747768913, 1.34812937711, 2.42845558533],
                [1.35299912303, 1.68300609434, 1.45437111374, 2.00030709704],
            ]
        ),
        abs=1e-10,
    )
    assert np.array([each.coefficients[MASKS] for each in moments]) == pytest.approx(
        np.array(
            [
                [-0.159197071077, 0.0161595758111, 0.13180154021, 0.0112359550562],
                [-0.14294459749, 0.0177532904806, 0.115090296908, 0.010101010101],
                [-0.140960163432, 0.0167971853365, 0.114402451481, 0.00976052661446],
            ]
        ),
        abs=1e-11,
    )


def test_split_plot_differences_of_a_reader_match_imrmc() -> None:
    """uStat11.jointD, kernel difference: only cases that a reader read under both count."""
    result = u_statistic(split_plot(difference=True)[0])
    assert result.estimate == pytest.approx(0.000557106863425, abs=1e-14)
    assert result.variance == pytest.approx(0.0258914092585, abs=1e-12)


def auc_example() -> UStatistic:
    """Return iMRMC's AUC example (5 readers, 40 + 40 cases, a tenth missing) from its moments."""
    unbiased, biased, coefficients = (np.zeros(8) for _ in range(3))
    unbiased[M1_TO_M8] = [
        0.755513,
        0.630217,
        0.624584,
        0.568052,
        0.63085,
        0.601685,
        0.593279,
        0.569219,
    ]
    biased[M1_TO_M8] = [
        0.755513,
        0.633706,
        0.628291,
        0.571439,
        0.660818,
        0.609335,
        0.601694,
        0.5708,
    ]
    coefficients[M1_TO_M8] = [
        0.000158655,
        0.00553985,
        0.00544546,
        0.190232,
        0.000501311,
        0.0195632,
        0.0194502,
        -0.240891,
    ]
    moments = Moments(unbiased=unbiased, biased=biased, coefficients=coefficients)
    return statistic_of_moments(0.755513248, (moments,))


def test_variance_and_interval_of_the_area_follow_from_imrmcs_moments() -> None:
    """U-statistic: var .00158088, 49.1764 degrees of freedom, t interval .6756 to .8354."""
    result = auc_example()
    assert result.variance == pytest.approx(0.00158088036, abs=2e-6)  # moments have six digits
    assert result.df_bdg == pytest.approx(49.1763921, rel=2e-3)
    half = t.isf(0.025, result.df_bdg) * np.sqrt(result.variance)
    limits = (result.estimate - half, result.estimate + half)
    assert limits == pytest.approx((0.675611961, 0.835414534), abs=1e-4)


def test_components_of_variance_match_imrmc() -> None:
    """BCK components of the U-statistic and of the biased moments, with their coefficients."""
    (moments,) = auc_example().moments
    assert moments.components[BCK_ORDER] == pytest.approx(
        [0.0240599, 0.0324656, 0.00510469, -0.0011674, 0.0324721, 0.0296997, 0.0636593], abs=5e-6
    )
    assert moments.biased_components[BCK_ORDER] == pytest.approx(
        [0.0308937, 0.0385349, 0.0205897, 0.000638268, 0.0259584, 0.0237323, 0.0443658], abs=5e-6
    )
    assert moments.component_coefficients[BCK_ORDER] == pytest.approx(
        [0.0255556, 0.025763, 0.000659966, 0.201376, 0.00560411, 0.0056985, 0.000158655], abs=1e-6
    )


@pytest.mark.parametrize("shape", [(5, 9), (9, 4), (4, 9, 7)])
@pytest.mark.parametrize("axis", [0, 1])
def test_degrees_of_freedom_have_a_closed_form_if_a_single_factor_varies(
    shape: tuple[int, ...], axis: int
) -> None:
    """In BDG and BCK they are the number of levels minus 1, with the variance of the mean."""
    levels = np.random.default_rng(2).normal(size=shape[axis])
    along = [1] * len(shape)
    along[axis] = shape[axis]
    kernel = np.broadcast_to(levels.reshape(along), shape).copy()
    result = u_statistic(Observations(kernel=kernel, design=np.ones(shape)))
    assert result.variance == pytest.approx(levels.var(ddof=1) / len(levels))
    expected = max(len(levels), min(shape)) - 1
    assert (result.df_bdg, result.df_bck) == pytest.approx((expected, expected))


def test_degrees_of_freedom_of_a_difference_allow_unequal_numbers_of_cases() -> None:
    """BDG takes the smaller of the two conditions' numbers for shared cases, BCK their mean."""
    n_readers, n_first, n_second = 3, 10, 8
    levels = np.random.default_rng(4).normal(size=n_first)
    shape = (n_readers, n_first)
    read = np.broadcast_to(np.arange(n_first) < n_second, shape).astype(float)
    first = Observations(kernel=np.tile(levels, (n_readers, 1)), design=np.ones(shape))
    second = Observations(kernel=np.zeros(shape), design=read)
    for pair in ((first, second), (second, first)):
        result = u_statistic(*pair)
        assert result.variance == pytest.approx(levels.var(ddof=1) / n_first)
        assert result.df_bdg == pytest.approx((n_second - 1) ** 3 / (n_first - 1) ** 2)
        assert result.df_bck == pytest.approx((n_first - 1 + n_second - 1) / 2)


@pytest.mark.parametrize("n_patients", [30, 60])
def test_clustered_areas_approach_obuchowskis_variance(n_patients: int) -> None:
    """Source: Obuchowski 1997, the variance of one area over patients with cases of both classes.

    Twenty readers with the same scores, so that the variance is that of patients; the formulas
    differ by terms of 1 over the number of patients.
    """
    generator = np.random.default_rng(n_patients)
    of_patient, of_case = generator.normal(size=n_patients), generator.normal(size=(2, n_patients))
    high, low = of_patient + of_case[0] + 1, of_patient + of_case[1]
    scores = (high[:, None] > low).astype(float)
    shape = (20, n_patients, n_patients)
    result = u_statistic(
        Observations(
            kernel=np.broadcast_to(scores, shape), design=np.ones(shape), same_patients=True
        )
    )
    influence = scores.mean(axis=0) + scores.mean(axis=1) - 2 * scores.mean()
    obuchowski = float((influence**2).sum()) / n_patients / (n_patients - 1)
    assert result.variance == pytest.approx(obuchowski, rel=6 / n_patients)
    assert result.df_bck == pytest.approx(n_patients - 1)
    assert result.df_bdg == pytest.approx(n_patients - 1, rel=6 / n_patients)
