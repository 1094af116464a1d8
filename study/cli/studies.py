"""Commands for studies: draw, invite, codes, open, status, simulate, exclude; and the demo."""

import json
import secrets
import sys
from collections.abc import Callable
from pathlib import Path

import click

from study import demo as demo_study
from study.base.actor import COMMAND_LINE, Acting
from study.base.errors import NotFound
from study.base.text import csv_line, did_you_mean, quoted
from study.cli.archive import deposit
from study.cli.program import PATH, acting, command, note, now, warn
from study.exchange import bundle
from study.lifecycle import deployments, drafts, exposure, studies
from study.monitoring import interventions, progress
from study.monitoring.quality import current_readings, find_reading
from study.people import persons, second_factor, single_sign_on
from study.people.codes import new_code
from study.people.invitations import read_invitations
from study.protocol.protocol import read_protocol, toml_of_study
from study.protocol.sampling import EXPECTED_ACCURACY
from study.reading import simulation
from study.store import Store
from study.trail import heads

_DATA = Path(__file__).parents[2] / "data"
_READER = click.option("--reader", metavar="READER", required=True, help="The reader's id.")


@command(of_study=False)
def init(db: Path | str) -> None:
    """Create an empty store. An existing store is not changed."""
    deployments.init(db, entropy=secrets.token_bytes, now=now())
    print(f"Store ready: {db}")


@command(reads="protocol")
@click.option("--bank", metavar="NAME", required=True, help="The bank to draw from.")
@click.option(
    "--protocol", metavar="FILE.toml", type=PATH, required=True, help="The protocol's file."
)
def draw(db: Path | str, study: str, bank: str, protocol: Path) -> None:
    """Draw the cases of a study by its protocol and print the strata.

    The output is CSV with the columns stratum, items_in_bank, the units in the bank, drawn and
    half_width (the expected half-width of the 95 % Wilson interval for an accuracy of 0.8).
    Warnings to consider before the study is opened are printed on stderr. A consent text that still
    contains the placeholder from the example is refused. See docs/protocol.md.
    """
    planned = read_protocol(protocol)
    store = Store(db)
    strata = studies.draw(store, bank=bank, study=study, protocol=planned, acting=acting())
    columns = ("stratum", "items_in_bank", planned.one_question_per, "drawn", "half_width")
    print(csv_line(columns), end="")
    for stratum in strata:
        counts = (stratum.name, stratum.n_items, stratum.n_units, stratum.n_drawn)
        print(csv_line((*counts, f"{stratum.half_width:.3f}")), end="")
    print(
        f"Drew {sum(stratum.n_drawn for stratum in strata)} cases for study {quoted(study)}. "
        f"half_width: expected half-width of the 95 % interval for an accuracy of "
        f"{EXPECTED_ACCURACY}.",
        file=sys.stderr,
    )
    warn(exposure.opening_warnings(store, study))


@command(reads="readers")
@click.argument("readers", metavar="READERS.csv", type=PATH)
def invite(db: Path | str, study: str, readers: Path) -> None:
    """Invite readers from a table (CSV or XLSX) and print their access codes.

    READERS.csv has the column reader_id and optionally level, years, site, name and email. The
    output is CSV with the columns reader_id and access_code. The codes are stored as salted hashes
    and cannot be printed again. Names and addresses are stored separately; bundles and the audit
    trail do not contain them. A person whose address is already known keeps their code, and the
    access_code is empty. Readers invited after the opening are assigned their cases immediately.
    Readers who may know answers from another study are listed on stderr.
    """
    invitations = read_invitations(readers)
    codes = [new_code(secrets.token_bytes) for _ in invitations]

    def deliver(known: tuple[str, ...]) -> None:
        print(csv_line(("reader_id", "access_code")), end="")
        for invitation, code in zip(invitations, codes, strict=True):
            printed = "" if invitation.reader_id in known else code.text
            print(csv_line((invitation.reader_id, printed)), end="")
        sys.stdout.flush()

    store = Store(db)
    known = studies.invite(
        store, study=study, invitations=invitations, codes=codes, acting=acting(), deliver=deliver
    )
    if known:
        note(
            f"{', '.join(known)} sign in with their existing access code: their e-mail address "
            "is known here."
        )
    reader_ids = {invitation.reader_id for invitation in invitations}
    warn(exposure.exposed_reader_warnings(store, study, reader_ids))


def _print_code(issue_code: Callable[..., str], db: Path | str, **whose: str) -> None:
    issue_code(
        Store(db),
        **whose,
        entropy=secrets.token_bytes,
        now=now(),
        deliver=lambda code: print(code, flush=True),
    )


@command()
@_READER
def code(db: Path | str, study: str, reader: str) -> None:
    """Print a new access code for a reader who has lost theirs.

    The old code stops working, and every sign-in with it ends.
    """
    _print_code(deployments.reader_code, db, study=study, reader_id=reader)


@command()
@click.option(
    "--name", metavar="NAME", default="coordinator", show_default=True, help="Their short name."
)
def coordinator(db: Path | str, study: str, name: str) -> None:
    """Print a new access code for a coordinator of the study.

    An earlier code of the same coordinator stops working.
    """
    _print_code(deployments.coordinator_code, db, study=study, name=name)


@command(of_study=False)
@click.option(
    "--name", metavar="NAME", default="admin", show_default=True, help="Their short name."
)
def administrator(db: Path | str, name: str) -> None:
    """Print a new access code for an administrator of the deployment.

    An earlier code of the same administrator stops working.
    """
    _print_code(deployments.administrator_code, db, name=name)


def _person_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options of a command that removes an account or second factor for a reason."""
    for option in (
        click.option("--reason", metavar="WORDS", required=True, help="Kept in the audit trail."),
        click.option(
            "--study", metavar="NAME", default="", help="Leave out for roles of the server."
        ),
        click.option(
            "--who", metavar="NAME", required=True, help="The reader's ID or the short name."
        ),
    ):
        function = option(function)
    return function


def _remove_from_person(
    do: Callable[..., None], db: Path | str, name: str, study: str, reason: str
) -> None:
    store, at = Store(db), now()
    members = (
        persons.members_of_study(store, study, now=at)
        if study
        else persons.members_of_deployment(store, now=at)
    )
    grant = next((member.grant for member in members if member.who == name), None)
    if grant is None:
        scope = f"in {quoted(study)}" if study else "on the server"
        suggestion = did_you_mean(name, [member.who for member in members])
        raise NotFound(f"Nobody is called {quoted(name)} {scope}.{suggestion}")
    do(store, study=study, grant=grant, reason=reason, acting=Acting(by=COMMAND_LINE, now=at))


@command("release-account", of_study=False)
@_person_options
def release_account(db: Path | str, who: str, study: str, reason: str) -> None:
    """Release the sign-in account bound to a person, so that they can bind another account.

    The next account that signs in with their registered address is bound. The reason is kept in the
    audit trail. See docs/sign-on.md.
    """
    _remove_from_person(single_sign_on.release_account, db, who, study, reason)
    print(f"Released the sign-in account of {who}.")


@command("remove-second-factor", of_study=False)
@_person_options
def remove_second_factor(db: Path | str, who: str, study: str, reason: str) -> None:
    """Remove the second factor of a person who has lost their phone and recovery codes.

    Their sign-ins end. The reason is kept in the audit trail. See docs/sign-on.md.
    """
    _remove_from_person(second_factor.remove, db, who, study, reason)
    print(f"Removed the second factor of {who}.")


@command("second-factor", of_study=False)
@click.argument("policy", type=click.Choice([str(policy) for policy in second_factor.Policy]))
def second_factor_(db: Path | str, policy: str) -> None:
    """Set whether staff who sign in by access code need a second factor.

    Readers and single sign-on are not affected. See docs/sign-on.md.
    """
    new = second_factor.Policy(policy)
    second_factor.set_policy(Store(db), new, acting=acting())
    print(f"Second factor for staff: {policy}.")


@command("return-to-draft")
@click.option("--reason", metavar="TEXT", required=True, help="Recorded in the audit trail.")
def return_to_draft(db: Path | str, study: str, reason: str) -> None:
    """Discard a drawn study and begin a draft with its protocol.

    The command prints the draft's name. It is refused once the study is open.
    """
    store = Store(db)
    draft = drafts.return_to_draft(store, study=study, reason=reason, acting=acting())
    print(f"Draft: {drafts.find(store, draft).name}")


@command("open")
@click.option(
    "--witness",
    metavar="EMAIL",
    default="",
    help="Address to which the chain's head is sent daily.",
)
def open_(db: Path | str, study: str, witness: str) -> None:
    """Open a study: lock the protocol, store every assignment and print the protocol's hash.

    With --witness, the head of the chain is e-mailed immediately, every day and at closing. If
    the message cannot be sent, this is reported, and the study is opened anyway. The consent text
    and warnings to consider before the study is opened are printed on stderr. See
    docs/coordinator.md#5-opening-the-study and docs/archive.md#proof-of-integrity.
    """
    store = Store(db)
    print(exposure.consent_to_read(store, study), file=sys.stderr)
    warn(exposure.opening_warnings(store, study))
    print(heads.open_study(store, study=study, witness=witness, acting=acting()))
    deposit(store, study)


@command()
def protocol(db: Path | str, study: str) -> None:
    """Print the protocol in force, with its amendments, as TOML.

    The output is a protocol file for `draw` with all keys and their values.
    """
    print(toml_of_study(Store(db), study), end="")


@command()
@_READER
@click.option("--seed", metavar="N", type=int, required=True, help="Seed of the answers.")
@click.option("--accuracy", metavar="P", type=float, default=0.75, help="Expected accuracy.")
@click.option(
    "--follow",
    metavar="P",
    type=float,
    default=0.0,
    help="Probability of adopting the aid's answer if it differs from the reader's.",
)
def simulate(
    db: Path | str, study: str, reader: str, seed: int, accuracy: float, follow: float
) -> None:
    """Run a simulated reader through every case of a study.

    It uses the same calls as the reading page, without preparation and practice. The reader is
    permanently marked as simulated; a reader who already has a person's readings is refused. The
    simulated clock starts at the current time and runs ahead.
    """
    simulated = simulation.simulate(
        Store(db),
        study=study,
        reader_id=reader,
        seed=seed,
        accuracy=accuracy,
        follow=follow,
        now=now(),
    )
    print(f"{simulated.reader_id} (simulated): {simulated.n_read} readings.")


@command()
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def status(db: Path | str, study: str, as_json: bool) -> None:
    """Print the progress of readers and models, without information on correctness."""
    state = progress.status(Store(db), study)
    if as_json:
        print(json.dumps(state, indent=2, ensure_ascii=False))
        return
    print(f"{state['study']}: {state['state']}, {state['n_cases']} cases from {state['bank']}")
    print(f"protocol {state['protocol_sha256']}")
    for reader in state["readers"]:
        label = bundle.label_of(reader["reader_id"], simulated=reader["simulated"])
        print(f"  reader {label}: {reader['n_read']} of {reader['n_assigned']} read")
    for model in state["models"]:
        label = bundle.label_of(model["model_id"], simulated=model["simulated"])
        if model["synthetic"]:
            label = f"{model['model_id']} (synthetic)"
        print(
            f"  model {label}: {model['n_predicted']} of {state['n_cases']} predicted, "
            f"{model['n_unparsed']} unparsed"
        )


@command()
def preparations(db: Path | str, study: str) -> None:
    """Print the preparation steps that readers completed before their first case, as CSV.

    The columns are reader_id, step, done_at_utc, received_at_utc and detail (JSON: the answers to
    the questionnaire, the result of the display check). The details may be personal; bundles
    contain them only if the protocol's bundle_extras lists them.
    """
    columns = ("reader_id", "step", "done_at_utc", "received_at_utc", "detail")
    print(csv_line(columns), end="")
    for row in progress.preparation_rows(Store(db), study):
        print(csv_line(row[name] for name in columns), end="")


_POSITION = click.option(
    "--position", metavar="N", type=int, required=True, help="The case's position."
)
_CONDITION = click.option(
    "--condition",
    metavar="NAME",
    default="",
    help="Which reading of sequential reading: unaided or aided.  [default: aided]",
)
_REASON = click.option("--reason", metavar="WORDS", required=True, help="Kept in the audit trail.")


@command()
@_READER
@_POSITION
@_CONDITION
@_REASON
def exclude(
    db: Path | str, study: str, reader: str, position: int, condition: str, reason: str
) -> None:
    """Exclude a reading for a reason; the bundle still contains it.

    The protocol's key exclusions states whether the reading is left out of the primary analysis or
    only of a sensitivity analysis; a note on stderr tells which. See docs/protocol.md.
    """
    store = Store(db)
    number = _reading_id(store, study, reader, position, condition)
    interventions.exclude(store, study=study, reading=number, reason=reason, acting=acting())
    print(f"Excluded: {reader}, position {position}.")
    note(interventions.exclusion_rule(store, study))


@command()
@_READER
@_POSITION
@_CONDITION
@_REASON
def reinstate(
    db: Path | str, study: str, reader: str, position: int, condition: str, reason: str
) -> None:
    """Reinstate an excluded reading for a reason.

    The audit trail keeps both decisions.
    """
    store = Store(db)
    number = _reading_id(store, study, reader, position, condition)
    interventions.reinstate(store, study=study, reading=number, reason=reason, acting=acting())
    print(f"Reinstated: {reader}, position {position}.")


def _reading_id(store: Store, study: str, reader: str, position: int, condition: str) -> str:
    row = find_reading(current_readings(store, study), reader, position, condition)
    if row is None:
        raise NotFound(f"{quoted(reader)} has no reading at position {position}.")
    return row.id


def _store_exists(db: Path | str) -> bool:
    if isinstance(db, Path):
        return db.exists()
    try:
        Store(db)
    except NotFound:
        return False
    return True


@command(of_study=False)
@click.option("--url", default="http://localhost:8501", help="Address to print for users.")
@click.option("--empty", is_flag=True, help="Create an empty store without the demo.")
def demo(db: Path | str, url: str, empty: bool) -> None:
    """Set up the demo in a new store and print its access codes.

    `make app` runs this command. It prints a code for each role that the README names. With --empty
    (make app DEMO=no) the new store is empty. An existing store without the demo keeps its codes;
    if it has no administrator yet, an administrator named admin is added, whose code is printed
    once.
    """
    if _store_exists(db):
        store = Store(db)
    elif empty:
        if isinstance(db, Path):
            db.parent.mkdir(parents=True, exist_ok=True)
        store = deployments.init(db, entropy=secrets.token_bytes, now=now())
    else:
        print("Setting up the demo study (once) ...", flush=True)
        store = demo_study.set_up(db, _DATA, entropy=secrets.token_bytes, now=now())
    codes = demo_study.new_codes(store, entropy=secrets.token_bytes, now=now())
    print(f"\nOpen             {url}")
    if codes is None:
        first = deployments.first_administrator(store, entropy=secrets.token_bytes, now=now())
        whose = "the administrator code below" if first else "the access codes that were issued"
        print(f"Sign in with {whose}; the store is {db}.")
        print(f"Administrator    {first} (shown only now)\n" if first else "")
        return
    print(f"Demo reader      {codes.reader}")
    print(f"Demo coordinator {codes.coordinator}")
    if codes.newcomer:
        print(f"Demo reader, from the start {codes.newcomer}")
    print(f"Administrator    {codes.administrator}")
    print(f"The demo reader is {quoted(demo_study.READER)} and can start reading.", end=" ")
    if codes.newcomer:
        print(
            f"The reader from the start is {quoted(demo_study.NEWCOMER)}: consent and questions "
            "first."
        )
    print("New codes are issued at every start. Images, other readers and models are simulated.\n")
