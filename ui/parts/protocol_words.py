"""Replaces keys of the protocol file in messages with the labels used on the pages."""

import re

from study.base.translation import language, t

_NOT_IN_A_WORD = r"(?<![\w“„\"'])"
_AFTER_AN_INSTRUCTION = r"(?<=[Ss]et )|(?<=[Ii]ncrease )|(?<=[Rr]educe )|(?<=[\"”] to )"
"""Text before a key in English messages, because most keys are also ordinary words."""

_ORDINARY_WORDS = frozenset({"name", "positive"})
"""Keys that occur as words in messages of other languages."""


def in_page_words(message: str) -> str:
    """Return a message with the labels of settings and values in place of their keys.

    >>> in_page_words("hidden_repeats = 9 is more than cases = 5.")
    '“Hidden repeats” = 9 is more than “Cases” = 5.'
    >>> in_page_words("Several sessions are needed. Set sessions to 2.")
    'Several sessions are needed. Set “Sessions” to 2.'
    """
    for key, label in setting_labels().items():
        is_word = (
            "_" not in key and key != "anchor" if language() == "en" else key in _ORDINARY_WORDS
        )
        context = (
            rf"^\s*|{_AFTER_AN_INSTRUCTION}|{_NOT_IN_A_WORD}(?={key} = )"
            if is_word
            else _NOT_IN_A_WORD
        )
        message = re.sub(rf"(?m)({context}){key}(?!\w)", rf"\1“{label}”", message)
    for value, label in _value_labels().items():
        message = re.sub(f'["„“]{value}["“”]', f"“{label}”", message)
    return message


def setting_labels() -> dict[str, str]:
    """Return the label of each key of a protocol file."""
    return {
        "name": t("Study name"),
        "bank": t("Question bank"),
        "cases": t("Cases"),
        "seed": t("Seed"),
        "stratify_by": t("Stratify by"),
        "allocation": t("Allocation"),
        "one_question_per": t("One question per"),
        "case_order": t("Cases"),
        "option_order": t("Options"),
        "conditions": t("Conditions"),
        "sessions": t("Sessions"),
        "washout_days": t("Wash-out period between sessions (days)"),
        "confidence": t("Confidence rating"),
        "comments": t("Comments"),
        "back_navigation": t("Allow going back"),
        "time_limit_s": t("Time limit per case (seconds)"),
        "feedback": t("Show the correct answer"),
        "practice_cases": t("Practice cases"),
        "hidden_repeats": t("Hidden repeats"),
        "context": t("Shown beside the question"),
        "margin": t("Margin (percentage points)"),
        "instructions": t("Instructions"),
        "consent": t("Consent"),
        "questionnaire": t("Questionnaire"),
        "display_check": t("Display check"),
        "cannot_answer": t("Allow “cannot answer”"),
        "break_every": t("Offer a break after (cases)"),
        "session_days": t("Days to complete a session once started"),
        "interim_results": t("Show accuracy while the study is open"),
        "endpoint": t("Primary endpoint"),
        "hypothesis": t("Hypothesis"),
        "claim_about": t("The claim applies to"),
        "primary_model": t("Primary model"),
        "positive": t("Positive options"),
        "subgroups": t("Subgroups"),
        "ordered_options": t("Options are ordered"),
        "years_limit": t("Years of experience that divide readers"),
        "smallest_window": t("Minimum window size"),
        "exclusions": t("Excluded readings"),
        "score_card": t("Score card"),
        "bundle_extras": t("Include in the export"),
        "fault_marks": t("Mark faulty questions"),
        "required_views": t("Views each case must have"),
        "age": t("Age in years"),
        "unknown_age": t("Include patients of unknown age"),
        "sex": t("Sex"),
        "without_flags": t("Leave out questions with a flag"),
        "only_items": t("Draw only these IDs"),
        "without_items": t("Leave out these IDs"),
        "aid": t("When the model's answer is shown"),
        "aid_model": t("Model whose answers are shown"),
        "aid_shows": t("Parts of the model's answer that are shown"),
        "aid_text": t("Introduction to the model's answers"),
        "aid_missing": t("Cases without an answer from the model"),
        "aid_errors": t("Planted errors"),
        "reads_per_case": t("Readers per case"),
        "cases_per_reader": t("Cases per reader"),
        "anchor": t("Cases read by everyone"),
        "arms": t("Arms"),
        "session_feedback": t("Feedback after each session"),
        "metadata": t("About the study"),
        "sample_size": t("Sample size"),
    }


def metadata_labels() -> dict[str, str]:
    """Return the label of each metadata field."""
    return {
        "reference_source": t("Source of the reference standard"),
        "reference_method": t("Method of the reference standard"),
        "reference_agreement": t("Agreement on the reference standard"),
        "eligibility": t("Eligibility of patients"),
        "setting": t("Setting and dates"),
        "ethics_approval": t("Ethics approval"),
        "registration": t("Registration"),
        "funding": t("Funding"),
        "conflicts_of_interest": t("Conflicts of interest"),
        "subgroups": t("Prespecified subgroups"),
    }


def _value_labels() -> dict[str, str]:
    return {
        "after case": t("After each case"),
        "after study": t("After the study"),
        "peers": t("With other readers and models"),
        "own": t("Own answers only"),
        "questionnaire": t("Questionnaire"),
        "questionnaire texts": t("Free-text answers"),
        "aided": t("Aided"),
        "wrong-image": t("Wrong image"),
        "after": t("After the reader's own answer"),
        "answer": t("Answer"),
        "explanation": t("Explanation"),
    }
