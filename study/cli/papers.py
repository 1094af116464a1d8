"""The command that writes an exam paper: what models are asked, in the shapes harnesses read."""

import sys
from pathlib import Path

import click

from study.base.actor import COMMAND_LINE
from study.cli.models import models
from study.cli.program import PATH, command, now
from study.exchange.exam_papers import FORMATS, MODEL, hand_out
from study.models.model_protocol import VIEWS, ModelProtocol, Order, Shown, resolution_of
from study.models.paper import paper_of_bank, paper_of_study
from study.store import Store


@command(of_study=False, group=models)
@click.option("--study", metavar="NAME", help="The study whose drawn cases are asked.")
@click.option("--bank", metavar="NAME", help="Instead: a whole question bank.")
@click.option("--split", metavar="NAME", default="", help="Of the bank (default: all).")
@click.option("--out", metavar="DIR", type=PATH, required=True, help="A new folder, or a .zip.")
@click.option(
    "--format", "formats", type=click.Choice(tuple(FORMATS)), multiple=True, help="Default: all."
)
@click.option("--order", type=click.Choice([str(one) for one in Order]), default="canonical")
@click.option("--condition", type=click.Choice([str(one) for one in Shown]), default="image")
@click.option("--views", type=click.Choice(VIEWS), default="all")
@click.option("--resolution", metavar="full|quarter|PIXELS", default="full")
@click.option("--explanation", is_flag=True, help="Ask for a reason before the answer.")
@click.option("--model", metavar="NAME", default=MODEL, help="Named in batch files.")
@click.option(
    "--bank-ids/--own-ids", default=None, help="Default: the bank's, unless they tell answers."
)
def paper(
    db: Path,
    study: str | None,
    bank: str | None,
    split: str,
    out: Path,
    formats: tuple[str, ...],
    order: str,
    condition: str,
    views: str,
    resolution: str,
    explanation: bool,
    model: str,
    bank_ids: bool | None,
) -> None:
    """Write the drawn cases as exam papers for models: images and words, no reference standard."""
    if bool(study) == bool(bank) or (split and study):
        raise click.UsageError("Name --study, or --bank with or without --split.")
    asked = ModelProtocol(
        order=Order(order),
        condition=Shown(condition),
        views=views,
        resolution=resolution_of(resolution),
        explanation=explanation,
    )
    store = Store(db)
    made = (
        paper_of_study(store, study, asked)
        if study
        else paper_of_bank(store, bank or "", asked, split=split)
    )
    bank_ids = hand_out(
        store,
        made,
        out,
        formats=formats or tuple(FORMATS),
        model=model,
        bank_ids=bank_ids,
        by=COMMAND_LINE,
        now=now(),
        progress=_told if sys.stderr.isatty() else lambda done, total: None,
    )
    if made.provenance.warning:
        print(made.provenance.warning, file=sys.stderr)
    print(f"Wrote {len(made.items)} items to {out} as {', '.join(formats or FORMATS)}.")
    if not bank_ids:
        print("Items go by ids of the paper's own, not the bank's. Answers come back by either.")
    print(f"paper {made.sha256}")


def _told(done: int, total: int) -> None:
    end = "\n" if done == total else ""
    print(f"\rImages rendered: {done:,} of {total:,}", end=end, file=sys.stderr)
