"""How agreement was measured."""

from __future__ import annotations

from analysis.report.methods.citing import Citations, Paragraph, has
from analysis.results import Results


def agreement(results: Results, cite: Citations) -> Paragraph | None:
    """Say how agreement was measured; nothing where no two raters were."""
    if not has(results, "agreement_pairs"):
        return None
    text = (
        "Agreement of two raters is computed over the items that both answered. Its chance"
        " correction is the Brennan-Prediger coefficient, whose chance agreement is the mean of"
        f" 1/k over these items, k being the options offered{cite('brennan1981')}. Error"
        " consistency is Cohen's kappa on correct and incorrect"
        f"{cite('geirhos2020')}. The share of same wrong answers is taken over the items that both"
        f" got wrong. Cohen's kappa on letters{cite('cohen1960')} is given for comparison with"
        " published work only: option letters are arbitrary, and relabelling them changes it."
        " Standard errors of kappas follow Fleiss, Cohen and Everitt"
        f"{cite('fleiss1969')}; those of the other measures divide by n − 1{cite('gwet2008')}."
    )
    if has(results, "agreement_groups"):
        text += (
            " Agreement of all readers, of all models and of all raters is given by the"
            " generalised Brennan-Prediger coefficient and Fleiss' kappa on correct and incorrect"
            f"{cite('fleiss1971')}; within items that share their options also by Fleiss' and"
            f" Conger's kappa{cite('conger1980')}, Krippendorff's alpha"
            f"{cite('hayes2007')} and AC1{cite('gwet2008')}, with standard errors by Gwet"
            f"{cite('gwet2021')}."
        )
    if has(results, "agreement_between"):
        text += (
            " Agreement among readers is compared with that of readers with models"
            f"{cite('vanbelle2009')}; the interval of the difference is a bootstrap's."
        )
    if has(results, "agreement_indices"):
        text += f" Prevalence and bias indices stand beside the kappas{cite('byrt1993')}."
    return Paragraph(title="Agreement", text=text)
