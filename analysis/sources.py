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
)
