"""What the methods are taken from, for the report and `results.json`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A publication that a method is taken from."""

    method: str
    text: str
    doi: str


SOURCES = (
    Source(
        method="Wilson score interval",
        text="Wilson EB. Probable inference, the law of succession, and statistical inference."
        " J Am Stat Assoc 1927;22:209-212.",
        doi="10.1080/01621459.1927.10502953",
    ),
    Source(
        method="MOVER interval of a mean of proportions",
        text="Zou GY, Huang W, Zhang X. A note on confidence interval estimation for a linear"
        " function of binomial proportions. Comput Stat Data Anal 2009;53:1080-1085.",
        doi="10.1016/j.csda.2008.09.033",
    ),
    Source(
        method="Bootstrap over patients",
        text="Field CA, Welsh AH. Bootstrapping clustered data. J R Stat Soc B 2007;69:369-390.",
        doi="10.1111/j.1467-9868.2007.00593.x",
    ),
    Source(
        method="Cohen's kappa",
        text="Cohen J. A coefficient of agreement for nominal scales."
        " Educ Psychol Meas 1960;20:37-46.",
        doi="10.1177/001316446002000104",
    ),
    Source(
        method="Standard error of kappa",
        text="Fleiss JL, Cohen J, Everitt BS. Large sample standard errors of kappa and weighted"
        " kappa. Psychol Bull 1969;72:323-327.",
        doi="10.1037/h0028106",
    ),
    Source(
        method="Brennan-Prediger coefficient",
        text="Brennan RL, Prediger DJ. Coefficient kappa: some uses, misuses, and alternatives."
        " Educ Psychol Meas 1981;41:687-699.",
        doi="10.1177/001316448104100307",
    ),
    Source(
        method="AC1, and standard errors of the raw-ratings form",
        text="Gwet KL. Computing inter-rater reliability and its variance in the presence of high"
        " agreement. Br J Math Stat Psychol 2008;61:29-48.",
        doi="10.1348/000711006X126600",
    ),
    Source(
        method="Error consistency",
        text="Geirhos R, Meding K, Wichmann FA. Beyond accuracy: quantifying trial-by-trial"
        " behaviour of CNNs and humans by measuring error consistency. NeurIPS 2020.",
        doi="10.48550/arXiv.2006.16736",
    ),
    Source(
        method="Score interval of a paired difference",
        text="Tango T. Equivalence test and confidence interval for the difference in proportions"
        " for the paired-sample design. Stat Med 1998;17:891-908.",
        doi="10.1002/(SICI)1097-0258(19980430)17:8<891::AID-SIM780>3.0.CO;2-B",
    ),
    Source(
        method="McNemar's test",
        text="McNemar Q. Note on the sampling error of the difference between correlated"
        " proportions or percentages. Psychometrika 1947;12:153-157.",
        doi="10.1007/BF02295996",
    ),
    Source(
        method="Mid-p of McNemar's test",
        text="Fagerland MW, Lydersen S, Laake P. The McNemar test for binary matched-pairs data:"
        " mid-p and asymptotic are better than exact conditional. BMC Med Res Methodol 2013;13:91.",
        doi="10.1186/1471-2288-13-91",
    ),
    Source(
        method="Test for clustered matched pairs",
        text="Yang Z, Sun X, Hardin JW. A note on the tests for clustered matched-pair binary data."
        " Biom J 2010;52:638-652.",
        doi="10.1002/bimj.201000035",
    ),
    Source(
        method="Holm's adjustment",
        text="Holm S. A simple sequentially rejective multiple test procedure. Scand J Stat"
        " 1979;6:65-70.",
        doi="10.2307/4615733",
    ),
    Source(
        method="Generalised estimating equations",
        text="Liang KY, Zeger SL. Longitudinal data analysis using generalized linear models."
        " Biometrika 1986;73:13-22.",
        doi="10.1093/biomet/73.1.13",
    ),
    Source(
        method="Cluster-robust standard errors with few clusters",
        text="Cameron AC, Miller DL. A practitioner's guide to cluster-robust inference. J Hum"
        " Resour 2015;50:317-372.",
        doi="10.3368/jhr.50.2.317",
    ),
)
