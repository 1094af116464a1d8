"""What the methods are taken from, for the report and `results.json`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A publication that a method is taken from.

    Parameters
    ----------
    method : str
        What is taken from it.
    text : str
        `Authors. Title. Journal year;volume:pages.`, the authors as `Name AB, Name C`. The key for
        citing and the BibTeX entry are read from it (`analysis.report.methods.references`).
    doi : str
        Without `doi:`.
    """

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
        method="Percentile intervals of few clusters",
        text="Hesterberg TC. What teachers should know about the bootstrap: resampling in the"
        " undergraduate statistics curriculum. Am Stat 2015;69:371-386.",
        doi="10.1080/00031305.2015.1089789",
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
    Source(
        method="Readers and cases as samples",
        text="Obuchowski NA, Rockette HE. Hypothesis testing of diagnostic accuracy for multiple"
        " readers and multiple tests: an ANOVA approach with dependent observations."
        " Commun Stat Simul Comput 1995;24:285-308.",
        doi="10.1080/03610919508813243",
    ),
    Source(
        method="Degrees of freedom with random readers",
        text="Hillis SL. A comparison of denominator degrees of freedom methods for multiple"
        " observer ROC analysis. Stat Med 2007;26:596-619.",
        doi="10.1002/sim.2532",
    ),
    Source(
        method="Single treatment, and variance components of readers",
        text="Hillis SL. A marginal-mean ANOVA approach for analyzing multireader multicase"
        " radiological imaging data. Stat Med 2014;33:330-360.",
        doi="10.1002/sim.5926",
    ),
    Source(
        method="Readers against a standalone model",
        text="Chakraborty DP. Observer performance methods for diagnostic imaging: foundations,"
        " modeling, and applications with R-based examples. CRC Press 2017, chapter 22.",
        doi="10.1201/9781351228190",
    ),
    Source(
        method="Single treatment against a fixed value",
        text="Hillis SL, Obuchowski NA, Berbaum KS. Power estimation for multireader ROC methods:"
        " an updated and unified approach. Acad Radiol 2011;18:129-142.",
        doi="10.1016/j.acra.2010.09.007",
    ),
    Source(
        method="Jackknife covariances of the area under the ROC curve",
        text="Hillis SL, Obuchowski NA, Schartz KM, Berbaum KS. A comparison of the"
        " Dorfman-Berbaum-Metz and Obuchowski-Rockette methods for receiver operating"
        " characteristic (ROC) data. Stat Med 2005;24:1579-1607.",
        doi="10.1002/sim.2024",
    ),
    Source(
        method="Area under the ROC curve, its components",
        text="DeLong ER, DeLong DM, Clarke-Pearson DL. Comparing the areas under two or more"
        " correlated receiver operating characteristic curves: a nonparametric approach."
        " Biometrics 1988;44:837-845.",
        doi="10.2307/2531595",
    ),
    Source(
        method="Area under the ROC curve of clustered cases",
        text="Obuchowski NA. Nonparametric analysis of clustered ROC curve data."
        " Biometrics 1997;53:567-578.",
        doi="10.2307/2533958",
    ),
    Source(
        method="Percent correct of clustered cases",
        text="Rao JNK, Scott AJ. A simple method for the analysis of clustered binary data."
        " Biometrics 1992;48:577-585.",
        doi="10.2307/2532311",
    ),
    Source(
        method="One-shot variance with random readers (a check)",
        text="Gallas BD, Bandos A, Samuelson FW, Wagner RF. A framework for random-effects ROC"
        " analysis: biases with the bootstrap and other variance estimators."
        " Commun Stat Theory Methods 2009;38:2586-2603.",
        doi="10.1080/03610920802610084",
    ),
    Source(
        method="Quartiles of response times",
        text="Hyndman RJ, Fan Y. Sample quantiles in statistical packages."
        " Am Stat 1996;50:361-365.",
        doi="10.1080/00031305.1996.10473566",
    ),
    Source(
        method="Mixed model of response times, readers and cases crossed",
        text="Baayen RH, Davidson DJ, Bates DM. Mixed-effects modeling with crossed random effects"
        " for subjects and items. J Mem Lang 2008;59:390-412.",
        doi="10.1016/j.jml.2007.12.005",
    ),
    Source(
        method="Profiled restricted likelihood",
        text="Bates D, Mächler M, Bolker B, Walker S. Fitting linear mixed-effects models using"
        " lme4. J Stat Softw 2015;67(1):1-48.",
        doi="10.18637/jss.v067.i01",
    ),
    Source(
        method="Uncertainty of ranks",
        text="Goldstein H, Spiegelhalter DJ. League tables and their limitations: statistical"
        " issues in comparisons of institutional performance. J R Stat Soc A 1996;159:385-409.",
        doi="10.2307/2983325",
    ),
    Source(
        method="Fleiss' kappa",
        text="Fleiss JL. Measuring nominal scale agreement among many raters. Psychol Bull"
        " 1971;76:378-382.",
        doi="10.1037/h0031619",
    ),
    Source(
        method="Conger's kappa",
        text="Conger AJ. Integration and generalization of kappas for multiple raters. Psychol Bull"
        " 1980;88:322-328.",
        doi="10.1037/0033-2909.88.2.322",
    ),
    Source(
        method="Krippendorff's alpha",
        text="Hayes AF, Krippendorff K. Answering the call for a standard reliability measure for"
        " coding data. Commun Methods Meas 2007;1:77-89.",
        doi="10.1080/19312450709336664",
    ),
    Source(
        method="Standard errors of agreement within groups",
        text="Gwet KL. Large-sample variance of Fleiss generalized kappa. Educ Psychol Meas"
        " 2021;81:781-790.",
        doi="10.1177/0013164420973080",
    ),
    Source(
        method="Agreement between groups",
        text="Vanbelle S, Albert A. Agreement between two independent groups of raters."
        " Psychometrika 2009;74:477-491.",
        doi="10.1007/s11336-009-9116-1",
    ),
    Source(
        method="Brier score",
        text="Brier GW. Verification of forecasts expressed in terms of probability."
        " Mon Weather Rev 1950;78:1-3.",
        doi="10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2",
    ),
    Source(
        method="Expected calibration error",
        text="Guo C, Pleiss G, Sun Y, Weinberger KQ. On calibration of modern neural networks."
        " Proc Mach Learn Res 2017;70:1321-1330.",
        doi="10.48550/arXiv.1706.04599",
    ),
    Source(
        method="Weighted kappa",
        text="Cohen J. Weighted kappa: nominal scale agreement with provision for scaled"
        " disagreement or partial credit. Psychol Bull 1968;70:213-220.",
        doi="10.1037/h0026256",
    ),
    Source(
        method="Prevalence and bias index",
        text="Byrt T, Bishop J, Carlin JB. Bias, prevalence and kappa. J Clin Epidemiol"
        " 1993;46:423-429.",
        doi="10.1016/0895-4356(93)90018-V",
    ),
)

# Their items are listed in the report in our own words, with what this run knows about each.
CHECKLIST_SOURCES = (
    Source(
        method="GRRAS checklist",
        text="Kottner J, Audigé L, Brorson S, Donner A, Gajewski BJ, Hróbjartsson A, Roberts C,"
        " Shoukri M, Streiner DL. Guidelines for reporting reliability and agreement studies"
        " (GRRAS) were proposed. J Clin Epidemiol 2011;64:96-106.",
        doi="10.1016/j.jclinepi.2010.03.002",
    ),
    Source(
        method="STARD checklist",
        text="Bossuyt PM, Reitsma JB, Bruns DE, et al. STARD 2015: an updated list of essential"
        " items for reporting diagnostic accuracy studies. BMJ 2015;351:h5527.",
        doi="10.1136/bmj.h5527",
    ),
    Source(
        method="STARD-AI checklist",
        text="Sounderajah V, Guni A, Liu X, et al. The STARD-AI reporting guideline for diagnostic"
        " accuracy studies using artificial intelligence. Nat Med 2025;31:3283-3289.",
        doi="10.1038/s41591-025-03953-8",
    ),
    Source(
        method="CLAIM checklist",
        text="Tejani AS, Klontzas ME, Gatti AA, Mongan JT, Moy L, Park SH, Kahn CE Jr. Checklist"
        " for Artificial Intelligence in Medical Imaging (CLAIM): 2024 update."
        " Radiol Artif Intell 2024;6:e240300.",
        doi="10.1148/ryai.240300",
    ),
)
