"""How models were compared with readers, and what else was modelled."""

from __future__ import annotations

from analysis.readings.confidence import WORDS, confidence_of
from analysis.report.methods.citing import Citations, Paragraph, has
from analysis.report.methods.provenance import margin
from analysis.report.wording.declared import declared_plan, has_margin, origin_of_margin
from analysis.report.wording.numbers import rounded
from analysis.report.wording.rows import rows_of
from analysis.results import Results


def panel(results: Results, cite: Citations) -> Paragraph | None:
    """Say how models were compared with the readers as a panel."""
    rows = rows_of(results, "reader_panel")
    if not rows:
        return None
    n = max(int(row["n_readers"]) for row in rows)
    text = (
        f"Each model is compared with the mean of the readers ({n}), under two claims. For these"
        " readers, readers are fixed and patients random; for readers like these, readers are"
        " random as well: the method of Obuchowski and Rockette for a standalone model against"
        f" readers{cite('obuchowski1995', 'hillis2014', 'chakraborty2017')}, with degrees of"
        f" freedom by Hillis{cite('hillis2007')}."
    )
    if results.clustered:
        text += f" Covariances are those of clustered items{cite('rao1992')}."
    if any(row["metric"] == "auc" for row in rows):
        keys = ("delong1988", *(("obuchowski1997",) if results.clustered else ("hillis2005",)))
        text += (
            " The same is done for areas under the ROC curve of the confidence ratings"
            f"{cite(*keys)}; confidence is taken as"
            f" {WORDS[confidence_of(results.options, results.bundle).meaning]}."
        )
    text += _declared(results, cite)
    if has(results, "reader_conditions"):
        text += (
            " Two conditions are compared on the same readers and items by the two-treatment form"
            " of the same method."
        )
    return Paragraph(title="Models against the panel of readers", text=text)


def _declared(results: Results, cite: Citations) -> str:
    """Say what gets a verdict, by which margin, and how it is adjusted."""
    plan, planned, origin = declared_plan(results), margin(results), origin_of_margin(results)
    text = ""
    if has_margin(results, "accuracy") and planned is not None:
        said = f" ({origin})" if origin else ""
        text += (
            f" The non-inferiority margin is {rounded(100 * planned, 1)} percentage points{said}"
        )
        text += ": it is cleared where the lower limit of the interval lies above minus the margin."
    if not plan.is_confirmatory:
        return f"{text} No hypothesis was declared with an endpoint; the results are exploratory."
    text += f" The declared endpoint is decided alone ({plan.hypothesis}); all else is exploratory."
    if plan.primary_model:
        return f"{text} One model was named primary, so that nothing is adjusted."
    return (
        f"{text} No model was named primary: beside the interval a verdict needs its p-value,"
        f" adjusted for the number of models by Holm's method{cite('holm1979')}."
    )


def single(results: Results, cite: Citations) -> Paragraph | None:
    """Say how every two raters were compared."""
    rows = rows_of(results, "comparisons")
    if not rows:
        return None
    test = f"McNemar's exact and mid-p tests{cite('mcnemar1947', 'fagerland2013')}"
    if results.clustered:
        test += f" and Yang's test over patients{cite('yang2010')}"
    text = (
        "Every two raters are compared on the same items: difference of accuracies with Tango's"
        f" score interval{cite('tango1998')}, {test}. p-values of readers against models are"
        f" adjusted by Holm's method within a condition{cite('holm1979')}."
    )
    return Paragraph(title="Single comparisons", text=text)


def models(results: Results, cite: Citations) -> Paragraph | None:
    """Say which models of readings and times were fitted."""
    texts = []
    if has(results, "gee"):
        texts.append(
            "Generalised estimating equations (identity link, independence, standard errors robust"
            f" over patients{cite('liang1986', 'cameron2015')}) give the comparison with these"
            " readers under another name: with a saturated model they are the same estimator, and"
            " where their numbers agree with the panel's nothing is confirmed a second time."
        )
    if has(results, "times"):
        texts.append(
            "Times are visible, unpaused response times; medians, quartiles and geometric means"
            f" are given{cite('hyndman1996')}."
        )
    if has(results, "time_model"):
        texts.append(
            "Their logarithms are modelled with readers and items crossed as random effects;"
            f" estimates are given as factors{cite('baayen2008', 'bates2015')}."
        )
    return Paragraph(title="Models of readings and times", text=" ".join(texts)) if texts else None
