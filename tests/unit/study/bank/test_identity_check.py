"""Identifiers from a DICOM file are found in text in any notation; few other words match."""

from collections.abc import Iterable

import pytest
from pydicom.datadict import dictionary_VR

from study.bank.identifiers import KINDS, Identifier, identifiers
from study.bank.identity_check import Finding, RowTexts, find_identifiers

CERTAIN, POSSIBLE, NOTHING = "certain", "possible", "nothing"
NAME = "Müller-Lüdenscheidt^Jörg Peter^^Dr.^Jr."


def identifiers_of(values: dict[str, str]) -> frozenset[Identifier]:
    """Return the identifiers of a file with these attributes."""
    return identifiers(
        (keyword, dictionary_VR(keyword), value) for keyword, value in values.items()
    )


def text_row(text: str, known: Iterable[Identifier], patient: str = "p") -> RowTexts:
    """Return a row of one text."""
    return RowTexts(patient=patient, texts={"question": text}, identifiers=frozenset(known))


def highest_certainty(findings: list[Finding]) -> str:
    """Return the most certain finding of a text."""
    return (
        CERTAIN
        if any(finding.certain for finding in findings)
        else POSSIBLE
        if findings
        else NOTHING
    )


CASES: list[tuple[dict[str, str], str, str]] = [
    *(
        ({"PatientName": NAME}, text, expected)
        for text, expected in [
            ("Jörg Müller-Lüdenscheidt", CERTAIN),
            ("Müller-Lüdenscheidt, Jörg", CERTAIN),
            ("MUELLER-LUEDENSCHEIDT JOERG", CERTAIN),
            ("mueller luedenscheidt^joerg", CERTAIN),
            ("Dr. Jörg P. Müller", CERTAIN),
            ("Lüdenscheidt, Herr Jörg", CERTAIN),
            ("J. Müller", CERTAIN),
            ("Müller, J. P.", CERTAIN),
            ("Jorg Muller", CERTAIN),
            ("film JoergMueller.dcm", CERTAIN),
            ("mueller_luedenscheidt_joerg_2.png", CERTAIN),
            ("M\u00fc\u200bller, Jo\u0308rg", CERTAIN),
            ("Ｍüller Ｊörg", CERTAIN),
            ("M&uuml;ller J&ouml;rg", CERTAIN),
            ("Müllers Herz", POSSIBLE),
            ("Herr MÜLLER hustet", POSSIBLE),
            ("Is Lüdenscheidt ill?", POSSIBLE),
            ("Jörg's heart", POSSIBLE),
            ("peter", POSSIBLE),
            ("MuellerLuedenscheidt", POSSIBLE),
            ("Dr. Jr. and others", NOTHING),
            ("Müllerin", NOTHING),
        ]
    ),
    *(
        ({"PatientName": "Yamada^Tarou=山田^太郎=やまだ^たろう"}, text, expected)
        for text, expected in [
            ("患者山田太郎の胸部", CERTAIN),
            ("山田 太郎", CERTAIN),
            ("太郎山田", CERTAIN),
            ("やまだたろう", CERTAIN),
            ("ヤマダ タロウ", CERTAIN),
            ("Yamada Tarou", CERTAIN),
            ("山田さん", POSSIBLE),
            ("胸部の山", NOTHING),
        ]
    ),
    ({"PatientName": "王^伟"}, "患者王伟,胸片", CERTAIN),
    ({"PatientName": "王^伟"}, "女王", NOTHING),
    ({"PatientName": "山田太郎"}, "山田太郎", CERTAIN),
    ({"PatientName": "홍^길동"}, "홍길동은", CERTAIN),
    ({"PatientName": "Иванов^Пётр"}, "ПЕТР ИВАНОВ", CERTAIN),
    *(
        ({"PatientName": name}, text, expected)
        for name, text, expected in [
            ("Иванов^Пётр", "направлен Иванову", POSSIBLE),
            ("Иванов^Пётр", "с Петром Ивановым", CERTAIN),
            ("Иванова^Анна", "у Ивановой", POSSIBLE),
            ("Иванова^Анна", "Анны Ивановой", CERTAIN),
            ("Петровский^Олег", "Петровского", POSSIBLE),
            ("Шевченко^Тарас", "Шевченка", POSSIBLE),
            ("Аксенов^Марк", "Аксенову", POSSIBLE),
            ("Иванов^Пётр", "иванову, нановым", NOTHING),
            ("Kowalska^Anna", "Kowalskiej", POSSIBLE),
            ("Novák^Jan", "pana Nováka", POSSIBLE),
            ("Novák^Jan", "novaky", NOTHING),
            ("Sever^Ann", "severe pneumonia", NOTHING),
            ("Rosenbaum^Eva", "R o s e n b a u m", POSSIBLE),
            ("Rosenbaum^Eva", "E v a  R o s e n b a u m", CERTAIN),
            ("Rosenbaum^Eva", "Rosen-\nbaum", POSSIBLE),
            ("Miller^John", "JMiller", POSSIBLE),
            ("Ross^Carl", "a cross section", NOTHING),
            ("Miller^John", "J. M.", NOTHING),
        ]
    ),
    *(
        ({"PatientID": value}, text, expected)
        for value, text, expected in [
            ("PAT-0012345", "patient 12345", POSSIBLE),
            ("PAT0012345", "0012345", CERTAIN),
            ("P-4711", "no. 4711", POSSIBLE),
            ("A0004711", "4711", POSSIBLE),
            ("P-2019", "in 2019", NOTHING),
            ("KH-00815", "window 815", NOTHING),
        ]
    ),
    ({"AccessionNumber": "CR-0012345"}, "12345", POSSIBLE),
    ({"AccessionNumber": "CR-4711"}, "4711", NOTHING),
    *(
        ({"InstitutionName": value}, text, expected)
        for value, text, expected in [
            ("St. Mary's Hospital", "Saint Marys", CERTAIN),
            ("St. Mary's Hospital", "at Saint Mary Hospital", CERTAIN),
            ("Sankt Josef Klinikum", "St. Josefs-Hospital", CERTAIN),
            ("Hôpital Saint-Louis", "St Louis", CERTAIN),
            ("Mount Sinai Hospital", "Mt. Sinai", CERTAIN),
            ("St. Mary's Hospital", "a saint", NOTHING),
        ]
    ),
    *(
        ({"StudyDate": value}, text, expected)
        for value, text, expected in [
            ("20240524", "令和6年5月24日", CERTAIN),
            ("20240524", "R6.5.24", CERTAIN),
            ("20240524", "R06/05/24", CERTAIN),
            ("20190501", "令和元年5月1日", CERTAIN),
            ("19880312", "昭和63年3月12日", CERTAIN),
            ("19950312", "平7.3.12", CERTAIN),
            ("20240524", "民國113年5月24日", CERTAIN),
            ("20240524", "113/5/24", CERTAIN),
            ("20240524", "24/5/2567", CERTAIN),
            ("20240524", "ngày 24 tháng 5 năm 2024", CERTAIN),
            ("20240524", "R6.5.25", NOTHING),
            ("20240524", "on 24/5", POSSIBLE),
            ("20240524", "5/24 and 3/3/2021", POSSIBLE),
            ("20240524", "am 24.5. gesehen", POSSIBLE),
            ("20240304", "on 03/04", POSSIBLE),
            ("20240304", "in 3/4 of cases, 3.4 cm, 3.4. It", NOTHING),
            ("20240524", "24.5 mm, 24/5/2021, T24/5", NOTHING),
        ]
    ),
    ({"PatientName": "Παπαδόπουλος^Νίκος"}, "Παπαδοπουλος Νικος", CERTAIN),
    ({"PatientName": "كريم^علي"}, "علي كريم", CERTAIN),
    ({"PatientName": "SMITH JOHN"}, "John Smith", CERTAIN),
    ({"PatientName": "Smith, John"}, "Smith", POSSIBLE),
    ({"PatientName": "O'Brien^Seán"}, "Sean OBrien", CERTAIN),
    ({"PatientName": "O'Brien^Seán"}, "O’BRIEN", POSSIBLE),
    ({"PatientName": "OBRIEN^SEAN"}, "O'Brien", POSSIBLE),
    ({"PatientName": "van der Berg^Anna"}, "vanderBerg", POSSIBLE),
    ({"PatientName": "van der Berg^Anna"}, "Anna Berg", CERTAIN),
    ({"PatientName": "van der Berg^Anna"}, "van der", NOTHING),
    ({"PatientName": "Łuczak^Żaneta"}, "Zaneta Luczak", CERTAIN),
    ({"PatientName": "Yıldız^İpek"}, "IPEK YILDIZ", CERTAIN),
    ({"PatientName": "Großmann^Æsa"}, "GROSSMANN Aesa", CERTAIN),
    ({"PatientBirthName": "Featherstone^Quentin"}, "née Featherstone", POSSIBLE),
    ({"PatientMotherBirthName": "Featherstone"}, "Featherstone", POSSIBLE),
    ({"OtherPatientNames": "Featherstone^Quentin"}, "Quentin Featherstone", CERTAIN),
    ({"PatientName": "Lung^Anna"}, "Is the lung clear?", POSSIBLE),
    ({"PatientName": "Lung^Anna"}, "A lung nodule in both lungs", POSSIBLE),
    ({"PatientName": "Li^Wei"}, "Is the line in place? Where is wei?", POSSIBLE),
    ({"PatientName": "Li^Xu"}, "Is the line in place? li", NOTHING),
    ({"PatientName": "Li^Xu"}, "Li", POSSIBLE),
    ({"PatientName": "Li^Xu"}, "li xu", CERTAIN),
    ({"PatientName": "Ng^Lu"}, "Is the lung clear?", NOTHING),
    ({"PatientName": "Ng^Lu"}, "lu ng", CERTAIN),
    ({"PatientName": "MÃ¼ller^JÃ¶rg"}, "Müller, Jörg", CERTAIN),
    ({"PatientName": "An^He"}, "He has an effusion", POSSIBLE),
    ({"PatientName": "Anonymous"}, "An anonymous patient", NOTHING),
    ({"PatientName": "ANON^0042"}, "anon 42", NOTHING),
    ({"PatientName": "Patient^Test"}, "Was the patient tested? Test", NOTHING),
    ({"PatientName": "Unknown^Unknown"}, "unknown", NOTHING),
    *(
        ({"PatientID": "MRN-4711-0815"}, text, expected)
        for text, expected in [
            ("MRN-4711-0815", CERTAIN),
            ("mrn47110815_q1", CERTAIN),
            ("MRN 4711 0815", CERTAIN),
            ("4711-0815", CERTAIN),
            ("4711", NOTHING),
        ]
    ),
    ({"PatientID": "0012345"}, "12345", POSSIBLE),
    ({"PatientID": "12345"}, "id 12345", CERTAIN),
    ({"PatientID": "12345"}, "id 123456", NOTHING),
    ({"PatientID": "1"}, "Is 1 finding present? 1", NOTHING),
    ({"PatientID": "AB7"}, "ab7", POSSIBLE),
    (
        {"PatientID": "3f2a9c1e-7b4d-4c8a-9e21-0a1b2c3d4e5f"},
        "q/3F2A9C1E-7B4D-4C8A-9E21-0A1B2C3D4E5F",
        CERTAIN,
    ),
    ({"OtherPatientIDs": "X99881"}, "x-99881", CERTAIN),
    *(
        ({"PatientBirthDate": "19610203"}, text, expected)
        for text, expected in [
            *(
                (text, CERTAIN)
                for text in (
                    *("3 Feb 1961", "Feb. 3rd, 1961", "3. Februar 1961", "3 février 1961"),
                    *("3 de febrero de 1961", "3 lutego 1961", "3 февраля 1961", "1961年2月3日"),
                    *("1961-02-03", "19610203", "03.02.1961", "3/2/1961", "02/03/1961"),
                    *("03.02.61", "3.2.61", "030261", "610203", "1961-02-03T08:00", "3-FEB-61"),
                    *(
                        "19610203080000",
                        "03021961",
                        "１９６１－０２－０３",
                        "b. 3rd of February 1961",
                    ),
                )
            ),
            ("3.II.1961", CERTAIN),
            ("type II, 3 mm", NOTHING),
            ("February 1961", POSSIBLE),
            ("02/1961", POSSIBLE),
            ("3 Feb", POSSIBLE),
            ("1961", NOTHING),
            ("in 61 of 3 cases, 2 mm", NOTHING),
            ("4 Feb 1961", POSSIBLE),
        ]
    ),
    ({"StudyDate": "20190314"}, "compared with 14.03.2019", CERTAIN),
    ({"AcquisitionDate": "20190314"}, "March 14, 2019", CERTAIN),
    ({"StudyDate": "2019.03.14"}, "2019-03-14", CERTAIN),
    ({"StudyDate": "20190314"}, "in 2019", NOTHING),
    ({"StudyDate": "20190314"}, "78 years, 2019", NOTHING),
    ({"AccessionNumber": "ACC-99-1234"}, "acc991234", CERTAIN),
    ({"AccessionNumber": "1234567"}, "Nr. 1234567", CERTAIN),
    ({"AccessionNumber": "A24-0099871"}, "0099871", CERTAIN),
    ({"PatientID": "24/0099871"}, "Nr. 99871", POSSIBLE),
    ({"PatientID": "H7-123456"}, "123456", CERTAIN),
    ({"StudyID": "1"}, "1", NOTHING),
    ({"StudyID": "CHEST"}, "a chest film", NOTHING),
    ({"StudyInstanceUID": "1.2.826.0.1.77"}, "film_1.2.826.0.1.77.dcm", CERTAIN),
    ({"StudyInstanceUID": "1.2.826.0.1.77"}, "1.2.826.0.1.778", NOTHING),
    ({"SOPClassUID": "1.2.840.10008.5.1.4.1.1.1"}, "1.2.840.10008.5.1.4.1.1.1", NOTHING),
    ({"ReferringPhysicianName": "Grimsby^Ada"}, "Dr. A. Grimsby", CERTAIN),
    ({"ReferringPhysicianName": "Grimsby^Ada"}, "Grimsby", POSSIBLE),
    ({"ReferringPhysicianName": "Grimsby^Ada"}, "Ada", NOTHING),
    ({"OperatorsName": "Technologist"}, "ask the technologist", NOTHING),
    ({"InstitutionName": "Nowhere General Hospital"}, "at Nowhere General", CERTAIN),
    ({"InstitutionName": "Klinikum Rechts der Isar, Ort"}, "Rechts der Isar", CERTAIN),
    ({"PatientAddress": "Lange Str. 22, Ort"}, "Lange Straße 22", CERTAIN),
    ({"PatientAddress": "Langestraße 22, Ort"}, "Langestr. 22", CERTAIN),
    ({"InstitutionName": "St. Mary's Hospital, London"}, "St Marys", CERTAIN),
    ({"InstitutionName": "Charité – Universitätsmedizin Berlin"}, "Charite", POSSIBLE),
    ({"InstitutionName": "General"}, "in general hospital", NOTHING),
    ({"InstitutionName": "General"}, "at General", POSSIBLE),
    ({"InstitutionalDepartmentName": "Radiology"}, "Radiology", NOTHING),
    ({"InstitutionAddress": "12 Rose Street\r\nLondon"}, "12 Rose Street", CERTAIN),
    ({"PatientAddress": "12 Rose Street^London"}, "12 Rose Str.", POSSIBLE),
    ({"PatientTelephoneNumbers": "+49 30 1234567"}, "call 030/1234567", CERTAIN),
    ({"StationName": "XR-ROOM12"}, "xrroom12", CERTAIN),
    ({"StationName": "DX1"}, "dx 1", NOTHING),
    ({"DeviceSerialNumber": "SN-5550199"}, "SN 5550199", CERTAIN),
]


@pytest.mark.parametrize(("values", "text", "expected"), CASES)
def test_an_identifier_is_found_in_every_notation(
    values: dict[str, str], text: str, expected: str
) -> None:
    """The finding is certain or possible, alone or in a sentence."""
    known = identifiers_of(values)
    assert highest_certainty(find_identifiers([text_row(text, known)])[0]) == expected
    assert (
        highest_certainty(find_identifiers([text_row(f"Was this seen: {text}?", known)])[0])
        == expected
    )


def test_every_kind_of_identifier_has_a_message_and_an_example() -> None:
    """Each kind has a row in the table above, and each attribute there has a kind."""
    kinds = {identifier.kind for values, _, _ in CASES for identifier in identifiers_of(values)}
    assert kinds == set(KINDS)


PEOPLE = {
    patient: identifiers_of(
        {"PatientName": name, "PatientID": f"ID-0000{n}", "StudyDate": "20190314"}
    )
    for n, (patient, name) in enumerate(
        [("a", "Featherstone^Quentin"), ("b", "White^Rose"), ("c", "Okafor^Chidi"), ("d", "Bo^Li")]
    )
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Does Quentin Featherstone cough?", CERTAIN),
        ("Q. Featherstone", CERTAIN),
        ("ID-00000", CERTAIN),
        ("Featherstone", POSSIBLE),
        ("Quentin", NOTHING),
        ("14 March 2019", CERTAIN),
    ],
)
def test_identifiers_of_other_patients_of_the_folder_are_found(text: str, expected: str) -> None:
    """A row may name the wrong film."""
    rows = [text_row("Why?", own, patient) for patient, own in PEOPLE.items()]
    findings = find_identifiers([*rows, text_row(text, PEOPLE["c"], "c")])
    assert [highest_certainty(of_row) for of_row in findings] == [*([NOTHING] * 4), expected]
    if expected != NOTHING and "2019" not in text:
        assert all("another" in finding.what for finding in findings[-1])


def test_a_surname_in_many_rows_counts_as_a_word() -> None:
    """“White” in rows of three other patients is not reported as a name.

    In a row of the patient named White it is reported.
    """
    rows = [text_row("Is it white?", own, patient) for patient, own in PEOPLE.items()]
    verdicts = [highest_certainty(findings) for findings in find_identifiers(rows)]
    assert verdicts == [NOTHING, POSSIBLE, NOTHING, NOTHING]
