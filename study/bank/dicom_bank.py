"""Converts a folder of DICOM films and a spreadsheet of questions into a pseudonymous bank.

Films become PNG files with new names, IDs become keyed hashes, and only the columns of a bank are
copied from the spreadsheet.
"""

import csv
import hmac
import json
import re
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from hashlib import sha256
from pathlib import Path

from study.bank.fields import (
    OPTION_FIELDS,
    SPELLINGS,
    Fields,
    Notes,
    kind_of,
)
from study.bank.identifiers import Identifier, identifiers
from study.bank.identity_check import RowTexts, find_identifiers
from study.bank.images import ImageFolder
from study.bank.importing import DEFAULT_OPTIONS, FaultyBank, Imported, Missing, import_bank
from study.bank.items import split_list
from study.bank.layout import (
    banks_folder,
    first_bytes,
    possible_dicom,
    spreadsheets,
    unused_path,
)
from study.bank.measures import parse_day
from study.bank.reading import ImportOptions, OnProgress
from study.bank.terms import view_label
from study.base.actor import Acting
from study.base.bank_model import Fault, Rule
from study.base.errors import BadFile
from study.base.text import check_name, id_key
from study.films import BadFilm
from study.films.decoding import is_dicom
from study.films.dicom import DicomFilm, instance_uid, read
from study.store import Store, deployment
from study.tables.source import Record, read_source
from study.tables.values import as_text

_UID = re.compile(r"[0-9.]{5,64}")
_FIELDS_NOT_COPIED = ("options", "context", "prior_date")
_COPIED_FIELDS = (*(field for field in SPELLINGS if field not in _FIELDS_NOT_COPIED), "options")
_REPLACED_FIELDS = ("images", "prior_images", "patient_id", "examination_id")
_POSSIBLE_REMEDY = (
    "reword it; or, if it identifies nobody, import again and allow possible identifiers"
    " (--allow-possible-identifiers)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ConvertedImage:
    """A converted image: the file name, the DICOM tags without pixels, and all identifiers."""

    name: str
    film: DicomFilm
    identifiers: frozenset[Identifier]

    @property
    def patient(self) -> str:
        """Return a key for the patient; each image without PatientID counts as another patient."""
        return self.film.patient or self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A row of the bank, and its texts that were copied from the spreadsheet."""

    place: str
    values: dict[str, str]
    texts: Mapping[str, str]
    patients: frozenset[str]


def import_dicom(
    store: Store,
    folder: Path,
    *,
    name: str,
    acting: Acting,
    options: ImportOptions = DEFAULT_OPTIONS,
) -> Imported:
    """Convert a folder to a bank next to the store, and import that bank.

    Raises
    ------
    BadFile
        The spreadsheet or a film has faults; the message lists them by row.
    """
    check_name(name, "bank")
    if not 0.05 <= options.scale <= 1:
        raise BadFile(f"The scale {options.scale:g} is not between 0.05 and 1.")
    with store.look() as look:
        key = bytes.fromhex(deployment.secret(look))
    home = banks_folder(store)
    home.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home, prefix=".incoming-") as scratch:
        allow_missing_prior = options.skip_faulty or options.missing != "refuse"
        conversion = _Conversion(
            folder,
            Path(scratch) / "bank",
            key,
            options.scale,
            allow_missing_prior=allow_missing_prior,
            allow_possible=options.allow_possible_identifiers,
        )
        conversion.run(options.progress or (lambda *_: None))
        faulty = {fault.key for fault in conversion.faults}
        if conversion.faults and not (options.skip_faulty and conversion.rows):
            raise FaultyBank(
                f"{conversion.sheet.name}: errors: {len(conversion.faults)}, rows with errors: "
                f"{len(faulty)}; nothing was imported.\n"
                + "\n".join(f"  {fault}" for fault in conversion.faults[:1_000]),
                faults=tuple(conversion.faults[:1_000]),
                n_faulty=len(faulty),
                n_items=len(conversion.rows),
                missing=Missing(n_films=0, n_items=0, n_shortened=0, examples=()),
            )
        conversion.write()
        place = unused_path(home, name)
        conversion.target.rename(place)
    imported = None
    try:
        imported = import_bank(
            store, place / "bank.csv", name=name, images=place, acting=acting, options=options
        )
    finally:
        if imported is None or not imported.is_new:
            shutil.rmtree(place, ignore_errors=True)
    return replace(
        imported,
        n_left_out=imported.n_left_out + len(faulty),
        left_out=(*conversion.faults[:1_000], *imported.left_out),
        notes=(*conversion.notes.lines(), *conversion.allowed[:1_000], *imported.notes),
    )


class _Conversion:
    """Converts the rows and films of a spreadsheet to those of a bank."""

    def __init__(
        self,
        folder: Path,
        target: Path,
        key: bytes,
        scale: float,
        *,
        allow_missing_prior: bool,
        allow_possible: bool,
    ) -> None:
        sheets = spreadsheets(folder)
        if len(sheets) != 1:
            names = ", ".join(sheet.name for sheet in sheets) or "none"
            raise BadFile(
                f"The folder must contain exactly one spreadsheet (CSV or XLSX); found: {names}."
            )
        self.sheet, self.target = sheets[0], target
        self.rows: list[dict[str, str]] = []
        self.faults: list[Fault] = []
        self.notes = Notes()
        self.allowed: list[str] = []
        self._allow_possible = allow_possible
        self._folder, self._images = folder, ImageFolder(folder)
        self._key, self._scale, self._allow_missing_prior = key, scale, allow_missing_prior
        self._converted: dict[str, _ConvertedImage] = {}
        self._by_uid: dict[str, list[Path]] | None = None
        target.mkdir(parents=True)

    def run(self, progress: OnProgress) -> None:
        """Convert all rows, and collect all faults."""
        records, rows = self._records(), list[_Row]()
        for n_done, record in enumerate(records):
            progress("films", n_done, len(records))
            try:
                rows.append(self._row(record))
            except BadFilm as bad:
                self.faults.append(
                    Fault(key=record.place, what=bad.what, remedy=bad.remedy, rule=bad.rule)
                )
        self._check_texts(rows)

    def _check_texts(self, rows: list[_Row]) -> None:
        """Keep the rows whose texts identify no person, and report the others as faults."""
        identifiers_by_patient = defaultdict[str, frozenset[Identifier]](frozenset)
        for image in self._converted.values():
            identifiers_by_patient[image.patient] |= image.identifiers
        checked = find_identifiers(
            [
                RowTexts(
                    patient=min(row.patients),
                    texts=row.texts,
                    identifiers=frozenset().union(
                        *map(identifiers_by_patient.__getitem__, row.patients)
                    ),
                )
                for row in rows
            ]
        )
        for row, findings in zip(rows, checked, strict=True):
            rejected = [
                finding for finding in findings if finding.certain or not self._allow_possible
            ]
            for finding in rejected:
                contains = "contains" if finding.certain else "contains what may be"
                self.faults.append(
                    Fault(
                        key=row.place,
                        what=f"column {finding.column} {contains} {finding.what}",
                        remedy="remove it" if finding.certain else _POSSIBLE_REMEDY,
                        rule=Rule.IDENTIFIES,
                    )
                )
            if not rejected:
                self.rows.append(row.values)
                self.allowed.extend(
                    f"{row.place}: column {each.column} contains what may be {each.what}; allowed"
                    for each in findings
                )

    def write(self) -> None:
        """Write the bank's file."""
        columns = list(dict.fromkeys(column for row in self.rows for column in row))
        with (self.target / "bank.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, columns, restval="")
            writer.writeheader()
            writer.writerows(self.rows)

    def _records(self) -> tuple[Record, ...]:
        source = read_source(self.sheet, format="csv", kind_of=kind_of)
        self.faults.extend(source.faults)
        return source.records

    def _row(self, record: Record) -> _Row:
        assert isinstance(record.value, dict)
        fields = Fields(record.value)
        for column, _, _ in fields.others():
            self.notes.add(f"column {column} is not a column of banks, left out", record.place)
        values = {
            name: as_text(fields.first(name)) or "" for name in (*_COPIED_FIELDS, *OPTION_FIELDS)
        }
        values = {name: text for name, text in values.items() if name in fields}
        others = fields.given("truth")[1:]  # compared when the bank is imported
        values |= {column: as_text(value) or "" for column, value in others}
        image_paths = [as_text(path) or "" for path in split_list(fields.first("images"))]
        if not any(image_paths) or not values.get("item_id"):
            raise BadFilm("no item id, or no image", "fill both columns", Rule.NO_IMAGE)
        images = [self._film(path) for path in image_paths if path]
        prior_images = self._priors(fields, record.place)
        all_images = (*images, *(image for image, _ in prior_images))
        for place, image in enumerate(all_images, 1):
            for note in image.film.notes:
                self.notes.add(note, f"{record.place}, image {place}")
        films = [image.film for image in images]
        if len({id_key(each.film.patient) for each in all_images if each.film.patient}) > 1:
            raise BadFilm("its images are of different patients", "check the images")
        converted = {
            **values,
            **_values_from_tags(values, films, self._scale),
            **_prior_columns(values, films, prior_images, self._scale),
            "images": json.dumps([image.name for image in images]),
            "patient_id": self._pseudonym(
                "P", values.get("patient_id") or _first_tag(films, "patient")
            ),
            "examination_id": self._pseudonym(
                "E", values.get("examination_id") or _first_tag(films, "examination")
            ),
            **({"rendition": f"{self._scale:g}"} if self._scale < 1 else {}),
        }
        return _Row(
            place=record.place,
            values=converted,
            texts={
                column: text for column, text in values.items() if column not in _REPLACED_FIELDS
            },
            patients=frozenset(image.patient for image in all_images),
        )

    def _priors(self, fields: Fields, place: str) -> list[tuple[_ConvertedImage, date | None]]:
        """Return the prior films of a row, each with its date in the spreadsheet."""
        prior_paths = [as_text(entry) or "" for entry in split_list(fields.first("prior_images"))]
        days = [parse_day(as_text(entry) or "") for entry in split_list(fields.first("prior_date"))]
        if len(days) != len(prior_paths):
            days = [days[0] if len(days) == 1 else None] * len(prior_paths)
        priors = []
        for entry, day in zip(prior_paths, days, strict=True):
            try:
                priors.append((self._film(entry), day))
            except BadFilm as bad:
                if bad.rule != Rule.IMAGE_MISSING or not self._allow_missing_prior:
                    raise
                self.notes.add("prior image not found, item imported without it", place)
        return priors

    def _pseudonym(self, kind: str, value: str) -> str:
        digest = hmac.new(self._key, f"{kind}\n{id_key(value)}".encode(), sha256).hexdigest()
        return f"{kind}{digest[:16]}" if value else ""

    def _film(self, cell: str) -> _ConvertedImage:
        path = self._path(cell)
        if self._images.missing_message(path):
            path = self._images.similar_path(path) or path
        if path not in self._converted:
            data = self._images.bytes_of(path)
            try:
                film = read(data)
            except BadFilm as bad:
                raise BadFilm(f"image {path}: {bad.what}", bad.remedy, bad.rule) from bad
            name = hmac.new(self._key, sha256(data).digest(), sha256).hexdigest()[:24] + ".png"
            (self.target / name).write_bytes(film.png(self._scale))
            self._converted[path] = _ConvertedImage(
                name=name,
                film=replace(film, samples=film.samples[:0], texts=frozenset()),
                identifiers=identifiers(film.texts),
            )
        return self._converted[path]

    def _path(self, cell: str) -> str:
        """Return the path in a cell, or the path of the image whose UID is in the cell."""
        if not _UID.fullmatch(cell) or (self._folder / cell).is_file():
            return self._images.locate(cell)
        if self._by_uid is None:
            self._by_uid = defaultdict(list)
            for path in possible_dicom(self._folder):
                if is_dicom(head := first_bytes(path)):
                    self._by_uid[instance_uid(head)].append(path)
        paths = self._by_uid.get(cell, [])
        if len({sha256(path.read_bytes()).digest() for path in paths}) > 1:
            raise BadFilm(
                "several different files have this SOPInstanceUID", "name one by its path"
            )
        return paths[0].relative_to(self._folder).as_posix() if paths else cell


def _values_from_tags(
    texts: Mapping[str, str], films: list[DicomFilm], scale: float
) -> dict[str, str]:
    """Return values from the films' tags for cells that are empty in the spreadsheet."""
    spacings = _spacings(films, scale)
    tags = {
        "age": _first_tag(films, "age"),
        "sex": _first_tag(films, "sex"),
        "views": json.dumps([view_label(film.view)[0] for film in films]),
        "pixel_spacing": json.dumps(spacings) if any(spacings) else "",
    }
    return {name: value for name, value in tags.items() if not texts.get(name)}


def _prior_columns(
    texts: Mapping[str, str],
    films: list[DicomFilm],
    prior_images: list[tuple[_ConvertedImage, date | None]],
    scale: float,
) -> dict[str, str]:
    """Return the columns of prior films, with days before the current film instead of dates."""
    empty_columns = {name: "" for name in texts if name.startswith("prior_")}
    if not prior_images:
        return empty_columns
    priors = [image.film for image, _ in prior_images]
    study_date = next((film.day for film in films if film.day), None)
    current_examinations = {film.examination for film in films if film.examination}
    if any(film.examination in current_examinations for film in priors):
        raise BadFilm(
            "a prior image of the current examination",
            "name the image of the earlier examination, or none",
            Rule.NO_PRIOR,
        )
    days = [
        str((study_date - prior_date).days)
        if study_date and (prior_date := day or image.film.day)
        else ""
        for image, day in prior_images
    ]
    if any(number.startswith("-") for number in days):
        raise BadFilm(
            "a prior image made after the current ones",
            "name an earlier examination, or leave the prior image out",
            Rule.NO_PRIOR,
        )
    spacings = _spacings(priors, scale)
    tags = {
        "prior_views": json.dumps([view_label(film.view)[0] for film in priors]),
        "prior_days": json.dumps(days) if any(days) else "",
        "prior_pixel_spacing": json.dumps(spacings) if any(spacings) else "",
    }
    return {
        **{name: texts.get(name) or value for name, value in tags.items()},
        "prior_images": json.dumps([image.name for image, _ in prior_images]),
    }


def _spacings(films: list[DicomFilm], scale: float) -> list[str]:
    return ["\\".join(str(float(s) / scale) for s in _sides(film)) for film in films]


def _sides(film: DicomFilm) -> list[str]:
    return film.spacing.split("\\") if film.spacing else []


def _first_tag(films: list[DicomFilm], name: str) -> str:
    return next((value for film in films if (value := str(getattr(film, name)))), "")
