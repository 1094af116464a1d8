"""The methods as a paper tells them: what was done in this run, with the sources it needs."""

from __future__ import annotations

from analysis.bundle.model import RULES, RaterKind
from analysis.bundle.protocol import stated
from analysis.presentation.wording import count, listed, rounded, rows_of
from analysis.readings.confidence import WORDS, confidence_of
from analysis.registry import STATISTICS
from analysis.report.methods.sources import (
    COMPUTING,
    Paragraph,
    cited,
    further_sources,
    margin,
    method_references,
    packages,
    protocol_hash,
    provenance,
)
from analysis.results import Results
from analysis.statistics.claims import has_fixed_interval
from analysis.statistics.verdicts import (
    FEWEST_PATIENTS,
    declared_plan,
    has_margin,
    origin_of_margin,
)


def design(results: Results) -> Paragraph:
    """Say who answered what, and what counts as wrong."""
    counts = results.tables["accuracy"].groupby("rater_kind")["rater_id"].nunique()
    readers, models = (int(counts.get(kind, 0)) for kind in RaterKind)
    items = results.bundle.items
    who = listed([text for text in (_n(readers, "reader"), _n(models, "model")) if text])
    text = f"{who} answered the multiple-choice questions of {count(len(items), 'case')}"
    text += f", {int((items['truth'] != '').sum()):,} of them with a reference standard."
    text += (
        " Every case with a reference standard is assigned to every rater under every condition"
        " with any reading. A case that was never presented to a reader is no answer and stands in"
        " no denominator of theirs; a case without a model's prediction is wrong. So is a case"
        " that was skipped, timed out, unparsed or refused. Of repeated readings the first counts."
    )
    aside = results.bundle.aside
    if (aside["run"] != "").any():
        text += (
            " Of a model that was run several times the first run counts; how far runs agree, and"
            " the variance that a run adds to accuracy, is a table of its own."
        )
    others = sorted(set(aside["condition"]) - set(results.bundle.readings["condition"]))
    if others:
        text += (
            f" Models' answers under conditions that no reader had ({listed(others)}) are compared"
            " with their own answers to the cases as the readers saw them, and count nowhere else."
        )
    if RULES[0] in results.bundle.readings:
        text += _rules(results)
    if "excluded" in results.bundle.readings.columns:
        dropped = int((results.bundle.readings["excluded"].fillna("") != "").sum())
        if dropped:
            text += f" {count(dropped, 'reading')} had been marked as excluded, with a reason."
            left_out = stated(results.bundle.protocol, "exclusions") == "primary"
            text += (
                " By the protocol the primary analysis leaves them out; beside it stands what"
                " counting them changes."
                if left_out
                else " The primary analysis counts them; beside it stands what dropping them"
                " changes."
            )
    return Paragraph(title="Readings and cases", text=text)


def _rules(results: Results) -> str:
    """Say how models' words were read, and how many answers other rules would have changed."""
    readings = results.bundle.readings
    stands = readings["answer"].where(readings["answer"] != "", readings["status"])
    told = [
        f"the {rules} rules would change {count(n, 'answer')}"
        for rules in RULES
        if (n := int(((readings[rules] != "") & (readings[rules] != stands)).sum()))
    ]
    text = " Models' answers were read out of their words by documented rules"
    if told:
        text += f"; {listed(told)}, and the sensitivity analyses show what that does to accuracy"
    return f"{text}."


def _n(n: int, word: str) -> str:
    return count(n, word) if n else ""


def accuracy(results: Results) -> Paragraph:
    """Say how accuracies, and ranks, got their intervals."""
    text = (
        "Micro accuracy weighs cases alike; its interval is Wilson's score interval"
        " [@wilson1927]. Macro accuracy is the mean of the tasks' accuracies, with the"
        " MOVER interval over the tasks' Wilson limits [@zou2009]."
    )
    if results.has("banks"):
        text += (
            " Accuracies on different banks are compared as those of independent samples, with the"
            " MOVER interval, or over patients where they have several cases."
        )
    if results.has("leaderboard"):
        text += (
            " Both put the raters in order; ranks have intervals by bootstrap, for the order of"
            " two raters may change with other patients [@goldstein1996]."
        )
    return Paragraph(title="Accuracy", text=text)


def open_ended(results: Results) -> Paragraph | None:
    """Say how answers in words were scored, and what they are compared with."""
    if not results.has("open_ended"):
        return None
    text = (
        "Cases were also answered in words, without options. Scorers who did not know whose words"
        " they read judged them as correct, partly correct or incorrect: two blind to each other,"
        " and a third where they differed; the score is what two of them say, and partly correct"
        " where all three differ. Words that are alike were judged once for all who gave them."
        " What was asked and not answered is incorrect; what nobody scored is counted apart and in"
        " no estimate. Partly correct counts half in the mean score and nothing in strict accuracy."
    )
    if results.has("open_gap"):
        text += " Multiple choice minus open-ended is paired, on the cases asked both ways, with"
        text += (
            " intervals over patients."
            if results.clustered
            else " Tango's score interval [@tango1998] for strict accuracy and t for the"
            " mean score."
        )
    if results.has("open_scoring"):
        text += (
            " Agreement of the two blind scores is kappa with linear weights for neighbouring"
            " levels [@cohen1968] and the chance of interchangeable scorers"
            " [@fleiss1971], beside raw agreement and Brennan-Prediger"
            " [@brennan1981]."
        )
    return Paragraph(title="Answers without options", text=text)


def agreement(results: Results) -> Paragraph | None:
    """Say how agreement was measured; nothing where no two raters were."""
    if not results.has("agreement_pairs"):
        return None
    text = (
        "Agreement of two raters is computed over the cases that both answered. Its chance"
        " correction is the Brennan-Prediger coefficient, whose chance agreement is the mean of"
        " 1/k over these cases, k being the options offered [@brennan1981]. Error"
        " consistency is Cohen's kappa on correct and incorrect"
        " [@geirhos2020]. The share of same wrong answers is taken over the cases that both"
        " got wrong. Cohen's kappa on letters [@cohen1960] is given for comparison with"
        " published work only: option letters are arbitrary, and relabelling them changes it."
        " Standard errors of kappas follow Fleiss, Cohen and Everitt"
        " [@fleiss1969]; those of the other measures divide by n − 1 [@gwet2008]."
    )
    if results.has("agreement_with_truth"):
        text += (
            " The agreement of each rater with the reference standard is measured in the same way,"
            " over the cases that the rater answered."
        )
    if results.has("agreement_groups"):
        text += (
            " Agreement of all readers, of all models and of all raters is given by the"
            " generalised Brennan-Prediger coefficient and Fleiss' kappa on correct and incorrect"
            " [@fleiss1971]; within cases that share their options also by Fleiss' and"
            " Conger's kappa [@conger1980], Krippendorff's alpha"
            " [@hayes2007] and AC1 [@gwet2008], with standard errors by Gwet"
            " [@gwet2021]."
        )
    if results.has("agreement_between"):
        text += (
            " Agreement among readers is compared with that of readers with models"
            " [@vanbelle2009]; the interval of the difference is a bootstrap's."
        )
    if results.has("agreement_indices"):
        text += " Prevalence and bias indices stand beside the kappas [@byrt1993]."
    return Paragraph(title="Agreement", text=text)


def panel(results: Results) -> Paragraph | None:
    """Say how models were compared with the readers as a panel."""
    rows = rows_of(results, "reader_panel")
    if not rows:
        return None
    n = max(int(row["n_readers"]) for row in rows)
    text = (
        f"Each model is compared with the mean of the readers ({n}), under two claims. For these"
        " readers, readers are fixed and patients random; for readers like these, readers are"
        " random as well: the method of Obuchowski and Rockette for a standalone model against"
        f" readers [@obuchowski1995; @hillis2014; @chakraborty2017], with degrees of"
        f" freedom by Hillis [@hillis2007]."
    )
    if any(map(has_fixed_interval, (*rows, *rows_of(results, "reader_conditions")))):
        text += (
            " Where the interval for readers like these came out narrower than the one for these"
            " readers, the latter is reported for both claims, with its standard error, degrees of"
            " freedom and p-value."
        )
    if results.clustered:
        text += " Covariances are those of clustered cases [@rao1992]."
    if any(row["metric"] == "auc" for row in rows):
        keys = ("delong1988", *(("obuchowski1997",) if results.clustered else ("hillis2005",)))
        text += (
            " The same is done for areas under the ROC curve of the confidence ratings"
            f" [{'; '.join(f'@{key}' for key in keys)}]; confidence is taken as"
            f" {WORDS[confidence_of(results.options, results.bundle).meaning]}."
        )
    text += _declared(results)
    if results.has("reader_conditions"):
        text += (
            " Two conditions are compared on the same readers and cases by the two-treatment form"
            " of the same method."
        )
    return Paragraph(title="Models against the panel of readers", text=text)


def _declared(results: Results) -> str:
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
    text += f" No verdict is given for fewer than {FEWEST_PATIENTS} patients."
    if plan.primary_model:
        return f"{text} One model was named primary, so that nothing is adjusted."
    return (
        f"{text} No model was named primary: beside the interval a verdict needs its p-value,"
        f" adjusted for the number of models by Holm's method [@holm1979]."
    )


def single(results: Results) -> Paragraph | None:
    """Say how every two raters were compared."""
    rows = rows_of(results, "comparisons")
    if not rows:
        return None
    test = "McNemar's exact and mid-p tests [@mcnemar1947; @fagerland2013]"
    if results.clustered:
        test += " and Yang's test over patients [@yang2010]"
    text = (
        "Every two raters are compared on the same cases: difference of accuracies with Tango's"
        f" score interval [@tango1998], {test}. p-values of readers against models are"
        f" adjusted by Holm's method within a condition [@holm1979]."
    )
    return Paragraph(title="Single comparisons", text=text)


def sensitivity(results: Results) -> Paragraph | None:
    """Say which other choices were compared."""
    rows = rows_of(results, "sensitivity")
    if not rows:
        return None
    choices = list(dict.fromkeys(str(row["analysis"]) for row in rows))
    more = [
        str(row["analysis"])
        for row in rows_of(results, "sensitivity_panel")
        if row["analysis"] not in choices
    ]
    choices += list(dict.fromkeys(more))
    text = (
        "The primary analysis counts missing answers as wrong, and leaves out of a reader's cases"
        f" those that were never presented. Choices compared: {listed(choices)}."
    )
    return Paragraph(title="Sensitivity analyses", text=text)


def uncertainty(results: Results) -> Paragraph:
    """Say what intervals are over, and what is done with the undefined."""
    options = results.options
    also = " and of single comparisons" if results.has("comparisons") else ""
    if results.clustered:
        text = (
            "Some patients (examinations where no patient is given) have several cases:"
            f" {count(results.n_clusters, 'cluster')} in all. Intervals of agreement, and second"
            f" intervals of accuracy{also}, are therefore percentile intervals"
            f" over {options.bootstrap:,} resamples of whole patients [@field2007] (seed"
            f" {options.seed})."
        )
    else:
        text = (
            "No patient or examination has more than one case, so that cases count as independent."
            " Intervals of kappas are normal, those of the other measures of agreement t with"
            " n − 1 degrees of freedom; upper limits are cut at 1."
        )
        if results.has("leaderboard") or results.has("agreement_between"):
            text += (
                f" Bootstrap intervals are over cases, {options.bootstrap:,} resamples (seed"
                f" {options.seed})."
            )
    text += (
        f" All intervals are {options.confidence_percent} % (two-sided alpha {options.alpha:g})."
        " What is undefined is left empty with its reason in the tables; it is never set to 0."
    )
    return Paragraph(title="Uncertainty", text=text)


def software(results: Results) -> Paragraph:
    """Say what computed it, and which checklists stand beside it."""
    known = provenance(results)["versions"]
    versions = listed([f"{name} {known[name]}" for name in ("python", *packages(COMPUTING))])
    digest = protocol_hash(results.bundle.protocol)
    how = "was locked before reading" if "locked" in results.bundle.protocol else "has a hash"
    locked = f" The protocol {how} (SHA-256 {digest})." if digest else ""
    text = (
        f"The analysis was made with Reading Room's analysis program, on {versions}; the same"
        f" bundle and seed give the same bytes.{locked} The reporting checklists are those of GRRAS"
        f" [@kottner2011], STARD-AI [@bossuyt2015; @sounderajah2025] and CLAIM"
        f" [@tejani2024]."
    )
    return Paragraph(title="Software and reporting", text=text)


__all__ = ["Paragraph", "cited", "method_references", "methods"]


def methods(results: Results) -> list[Paragraph]:
    """Describe what this run computed: a paragraph from all parts with the same title."""
    parts = {
        0: design(results),
        100: accuracy(results),
        200: open_ended(results),
        300: agreement(results),
        400: panel(results),
        500: single(results),
        700: sensitivity(results),
        900: uncertainty(results),
        950: Paragraph(title="Further sources", text=further_sources()),
        1000: software(results),
    }
    for statistic in STATISTICS:
        if results.has(statistic.name):
            for place, (title, text) in statistic.methods.items():
                said = text if isinstance(text, str) else text(results)
                parts[place] = Paragraph(title=title, text=said)
    texts: dict[str, list[str]] = {}
    for _, part in sorted(parts.items()):
        if part and part.text:
            texts.setdefault(part.title, []).append(part.text)
    return [Paragraph(title=title, text=" ".join(text)) for title, text in texts.items()]
