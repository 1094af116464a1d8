"""The methods as a paper tells them: what was done in this run, with the sources it needs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from analysis.bundle.words import RaterKind
from analysis.provenance import margin, protocol_hash, provenance
from analysis.report.numbers import count, listed, rounded
from analysis.report.references import Reference, cited_keys, references
from analysis.report.rows import rows_of
from analysis.results import Results
from analysis.sources import CHECKLIST_SOURCES, SOURCES


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """A paragraph of the methods.

    Parameters
    ----------
    title : str
        As text.
    text : str
        As text, sources as `[@key; @key]`.
    """

    title: str
    text: str


class Citations:
    """Turns keys into `[@key]`, for sources that are known; a key that is not is left out.

    Parameters
    ----------
    known : iterable of Reference
        The sources.
    """

    def __init__(self, known: Iterable[Reference]) -> None:
        self._keys = {reference.key for reference in known}

    def __call__(self, *keys: str) -> str:
        found = [f"@{key}" for key in keys if key in self._keys]
        return f" [{'; '.join(found)}]" if found else ""


# Sources of tables that need not be there; any other source that no sentence names is named last.
OF_TABLE = {
    "agreement_pairs": (
        "brennan1981",
        "cohen1960",
        "fleiss1969",
        "gwet2008",
        "geirhos2020",
        "barjoseph2001",
    ),
    "agreement_groups": ("fleiss1971", "conger1980", "hayes2007", "gwet2021"),
    "agreement_between": ("vanbelle2009",),
    "agreement_indices": ("byrt1993",),
    "comparisons": ("tango1998", "mcnemar1947", "fagerland2013", "holm1979"),
    "reader_panel": ("obuchowski1995", "hillis2007", "hillis2014", "chakraborty2017", "hillis2011"),
    "gee": ("liang1986", "cameron2015"),
    "times": ("hyndman1996",),
    "time_model": ("baayen2008", "bates2015"),
    "leaderboard": ("goldstein1996",),
}
# Named by a sentence where they apply: with clusters, with confidence ratings, or as a check alone.
WHERE_THEY_APPLY = (
    "field2007",
    "yang2010",
    "rao1992",
    "delong1988",
    "hillis2005",
    "obuchowski1997",
    "gallas2009",
)


def method_references() -> list[Reference]:
    """Return every source of the program with its key."""
    return references((*SOURCES, *CHECKLIST_SOURCES))


def methods(results: Results) -> list[Paragraph]:
    """Tell what was done in this run.

    Parameters
    ----------
    results : Results
        The run.

    Returns
    -------
    list of Paragraph
        Only of what this run computed.
    """
    known = method_references()
    cite = Citations(known)
    parts = [
        _design(results),
        _accuracy(results, cite),
        _agreement(results, cite),
        _panel(results, cite),
        _single(results, cite),
        _models(results, cite),
        _other(results),
        _uncertainty(results, cite),
        _software(results, cite),
    ]
    paragraphs = [part for part in parts if part is not None]
    rest = _unnamed(results, known, cite, [part.text for part in paragraphs])
    if rest:
        paragraphs.insert(-1, Paragraph(title="Further sources", text=rest))
    return paragraphs


def cited(results: Results, paragraphs: Iterable[Paragraph]) -> list[Reference]:
    """Return the references in order of first mention in the methods."""
    known = {reference.key: reference for reference in method_references()}
    return [known[key] for key in cited_keys(part.text for part in paragraphs)]


def _has(results: Results, table: str) -> bool:
    return len(results.tables.get(table, ())) > 0


def _design(results: Results) -> Paragraph:
    counts = results.tables["accuracy"].groupby("rater_kind")["rater_id"].nunique()
    readers, models = (int(counts.get(kind, 0)) for kind in RaterKind)
    items = results.bundle.items
    who = listed([text for text in (_n(readers, "reader"), _n(models, "model")) if text])
    text = f"{who} answered {count(len(items), 'multiple-choice item')}"
    text += f", {int((items['truth'] != '').sum()):,} of them with a reference standard."
    text += (
        " Every item with a reference standard is assigned to every rater under every condition"
        " with any reading. An assigned item without an answer (skipped, timed out, unparsed,"
        " refused or absent) is wrong and stays in the denominator. Of repeated readings the first"
        " counts."
    )
    if "excluded" in results.bundle.readings.columns:
        dropped = int((results.bundle.readings["excluded"].fillna("") != "").sum())
        if dropped:
            text += f" {count(dropped, 'reading')} had been marked as excluded, with a reason."
    return Paragraph(title="Readings and items", text=text)


def _n(n: int, word: str) -> str:
    return count(n, word) if n else ""


def _accuracy(results: Results, cite: Citations) -> Paragraph:
    text = (
        "Micro accuracy weighs items alike; its interval is Wilson's score interval"
        f"{cite('wilson1927')}. Macro accuracy is the mean of the tasks' accuracies, with the"
        f" MOVER interval over the tasks' Wilson limits{cite('zou2009')}."
    )
    if _has(results, "leaderboard"):
        text += (
            " Both put the raters in order; ranks have intervals by bootstrap, for the order of"
            f" two raters may change with other patients{cite('goldstein1996')}."
        )
    return Paragraph(title="Accuracy", text=text)


def _agreement(results: Results, cite: Citations) -> Paragraph | None:
    if not _has(results, "agreement_pairs"):
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
    if _has(results, "agreement_groups"):
        text += (
            " Agreement of all readers, of all models and of all raters is given by the"
            " generalised Brennan-Prediger coefficient and Fleiss' kappa on correct and incorrect"
            f"{cite('fleiss1971')}; within items that share their options also by Fleiss' and"
            f" Conger's kappa{cite('conger1980')}, Krippendorff's alpha"
            f"{cite('hayes2007')} and AC1{cite('gwet2008')}, with standard errors by Gwet"
            f"{cite('gwet2021')}."
        )
    if _has(results, "agreement_between"):
        text += (
            " Agreement among readers is compared with that of readers with models"
            f"{cite('vanbelle2009')}; the interval of the difference is a bootstrap's."
        )
    if _has(results, "agreement_indices"):
        text += f" Prevalence and bias indices stand beside the kappas{cite('byrt1993')}."
    return Paragraph(title="Agreement", text=text)


def _panel(results: Results, cite: Citations) -> Paragraph | None:
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
            f"{cite(*keys)}."
        )
    planned = margin(results)
    if planned is not None:
        text += (
            f" The non-inferiority margin is {rounded(100 * planned, 1)} percentage points: a"
            " model counts as non-inferior only where the lower limit of the interval lies above"
            " minus the margin."
        )
    if _has(results, "reader_conditions"):
        text += (
            " Two conditions are compared on the same readers and items by the two-treatment form"
            " of the same method."
        )
    return Paragraph(title="Models against the panel of readers", text=text)


def _single(results: Results, cite: Citations) -> Paragraph | None:
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


def _models(results: Results, cite: Citations) -> Paragraph | None:
    texts = []
    if _has(results, "gee"):
        texts.append(
            "Differences of models from readers are also estimated by generalised estimating"
            f" equations with standard errors robust over patients"
            f"{cite('liang1986', 'cameron2015')}."
        )
    if _has(results, "times"):
        texts.append(
            "Times are visible, unpaused response times; medians, quartiles and geometric means"
            f" are given{cite('hyndman1996')}."
        )
    if _has(results, "time_model"):
        texts.append(
            "Their logarithms are modelled with readers and items crossed as random effects;"
            f" estimates are given as factors{cite('baayen2008', 'bates2015')}."
        )
    return Paragraph(title="Models of readings and times", text=" ".join(texts)) if texts else None


def _other(results: Results) -> Paragraph | None:
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
        f"The primary analysis counts missing answers as wrong. Choices compared: "
        f"{listed(choices)}."
    )
    return Paragraph(title="Sensitivity analyses", text=text)


def _uncertainty(results: Results, cite: Citations) -> Paragraph:
    options = results.options
    also = " and of single comparisons" if _has(results, "comparisons") else ""
    if results.clustered:
        text = (
            "Some patients (examinations where no patient is given) have several items:"
            f" {count(results.n_clusters, 'cluster')} in all. Intervals of agreement, and second"
            f" intervals of accuracy{also}, are therefore percentile intervals"
            f" over {options.bootstrap:,} resamples of whole patients{cite('field2007')} (seed"
            f" {options.seed})."
        )
    else:
        text = (
            "No patient or examination has more than one item, so that items count as independent."
            " Intervals of kappas are normal, those of the other measures of agreement t with"
            " n − 1 degrees of freedom; upper limits are cut at 1."
        )
        if _has(results, "leaderboard") or _has(results, "agreement_between"):
            text += (
                f" Bootstrap intervals are over items, {options.bootstrap:,} resamples (seed"
                f" {options.seed})."
            )
    text += (
        f" All intervals are {options.confidence_percent} % (two-sided alpha {options.alpha:g})."
        " What is undefined is left empty with its reason in the tables; it is never set to 0."
    )
    return Paragraph(title="Uncertainty", text=text)


def _software(results: Results, cite: Citations) -> Paragraph:
    versions = listed(
        [f"{name} {number}" for name, number in provenance(results)["versions"].items()]
    )
    digest = protocol_hash(results.bundle.protocol)
    how = "was locked before reading" if "locked" in results.bundle.protocol else "has a hash"
    locked = f" The protocol {how} (SHA-256 {digest})." if digest else ""
    text = (
        f"The analysis was made with Reading Room's analysis program, on {versions}; the same"
        f" bundle and seed give the same bytes.{locked} The reporting checklists are those of GRRAS"
        f"{cite('kottner2011')}, STARD-AI{cite('bossuyt2015', 'sounderajah2025')} and CLAIM"
        f"{cite('tejani2024')}."
    )
    return Paragraph(title="Software and reporting", text=text)


def _unnamed(
    results: Results, known: Iterable[Reference], cite: Citations, texts: Iterable[str]
) -> str:
    """Name sources that no sentence names, unless they belong to what this run did not do."""
    named = set(cited_keys(texts))
    absent = {key for table, keys in OF_TABLE.items() if not _has(results, table) for key in keys}
    rest = [
        f"{one.source.method}{cite(one.key)}"
        for one in known
        if one.key not in named | absent | set(WHERE_THEY_APPLY) and one.source in SOURCES
    ]
    return f"Also taken from the literature: {'; '.join(rest)}." if rest else ""
