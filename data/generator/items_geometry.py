"""The geometric items: their answers are looked up in what was measured on the finished chest."""

from data.generator.item import MeasuredItem

RATIO_QUESTION = "What is the approximate cardiothoracic ratio on the PA view?"
RATIO_RANGES = (
    ("0.25 to 0.35", 0.25, 0.35),
    ("0.40 to 0.50", 0.40, 0.50),
    ("0.55 to 0.68", 0.55, 0.68),
    ("0.75 to 0.85", 0.75, 0.85),
)
HEIGHT_QUESTION = (
    "About how much of the height of the {side} lung does the pleural fluid reach at the "
    "lateral chest wall?"
)
HEIGHT_RANGES = (
    ("Less than one tenth", 0.0, 0.10),
    ("About one quarter", 0.18, 0.32),
    ("About one half", 0.40, 0.60),
    ("Nearly the whole height", 0.85, 1.0),
)
LARGE_HEIGHT_RANGES = (
    ("Less than one tenth", 0.0, 0.10),
    ("About one third", 0.27, 0.40),
    ("About two thirds", 0.56, 0.76),
    ("The whole height", 0.95, 1.0),
)
APEX_QUESTION = "About how far is the apex of the {side} lung below the top of the chest cavity?"
APEX_RANGES = (
    ("Less than 0.5 cm", 0.0, 5.0),
    ("About 3 cm", 20.0, 42.0),
    ("About 8 cm", 70.0, 90.0),
    ("About 12 cm", 110.0, 130.0),
)


def _measured(
    key: str,
    category: str,
    subcategory: str,
    question: str,
    measure: str,
    ranges: tuple[tuple[str, float, float], ...],
    why: str,
) -> MeasuredItem:
    return MeasuredItem(
        key=key,
        category=category,
        subcategory=subcategory,
        question=question,
        measure=measure,
        ranges=ranges,
        why=why,
    )


GEOMETRY = (
    _measured(
        "normal-1",
        "Heart and mediastinum",
        "Cardiothoracic ratio",
        RATIO_QUESTION,
        "cardiothoracic_ratio",
        RATIO_RANGES,
        "Measured on the projected outlines: {value:.2f}.",
    ),
    _measured(
        "cardiomegaly",
        "Heart and mediastinum",
        "Cardiothoracic ratio",
        RATIO_QUESTION,
        "cardiothoracic_ratio",
        RATIO_RANGES,
        "Measured on the projected outlines: {value:.2f}.",
    ),
    _measured(
        "nodule-left",
        "Lung",
        "Nodule",
        "What is the approximate diameter of the nodule?",
        "truth:diameter_mm",
        (
            ("About 0.5 cm", 3.0, 7.0),
            ("About 2.5 cm", 22.0, 29.0),
            ("About 6 cm", 55.0, 65.0),
            ("About 9 cm", 85.0, 95.0),
        ),
        "Inserted with a diameter of {value:.0f} mm.",
    ),
    _measured(
        "mass-rul",
        "Lung",
        "Mass",
        "What is the approximate diameter of the mass?",
        "truth:diameter_mm",
        (
            ("About 1 cm", 8.0, 13.0),
            ("About 2 cm", 17.0, 24.0),
            ("About 5 cm", 45.0, 56.0),
            ("About 10 cm", 90.0, 110.0),
        ),
        "Inserted with a diameter of {value:.0f} mm.",
    ),
    _measured(
        "effusion-left",
        "Pleura",
        "Effusion",
        HEIGHT_QUESTION.format(side="left"),
        "effusion_height_share_left",
        HEIGHT_RANGES,
        "Measured on the projected fluid: {value:.2f} of the lung's height.",
    ),
    _measured(
        "effusion-right",
        "Pleura",
        "Effusion",
        HEIGHT_QUESTION.format(side="right"),
        "effusion_height_share_right",
        LARGE_HEIGHT_RANGES,
        "Measured on the projected fluid: {value:.2f} of the lung's height.",
    ),
    _measured(
        "tubes",
        "Devices",
        "Tube",
        "About how far is the tip of the endotracheal tube from the carina?",
        "tube_tip_above_carina_mm",
        (
            ("About 2 cm below the carina", -25.0, -15.0),
            ("At the carina", -5.0, 5.0),
            ("About 4 cm above the carina", 35.0, 48.0),
            ("About 9 cm above the carina", 80.0, 100.0),
        ),
        "Inserted {value:.0f} mm above the carina.",
    ),
    _measured(
        "pneumothorax-right",
        "Pleura",
        "Pneumothorax",
        APEX_QUESTION.format(side="right"),
        "truth:apex_to_cupola_mm",
        APEX_RANGES,
        "Measured between cupola and lung apex: {value:.0f} mm.",
    ),
    _measured(
        "pneumothorax-left",
        "Pleura",
        "Pneumothorax",
        APEX_QUESTION.format(side="left"),
        "truth:apex_to_cupola_mm",
        APEX_RANGES,
        "Measured between cupola and lung apex: {value:.0f} mm.",
    ),
    _measured(
        "dome",
        "Abdomen",
        "Diaphragm",
        "How do the two domes of the diaphragm compare in height?",
        "right_dome_above_left_mm",
        (
            ("The left is about 3 cm higher", -35.0, -25.0),
            ("They are at the same level", -5.0, 5.0),
            ("The right is about 1 cm higher", 8.0, 14.0),
            ("The right is more than 4 cm higher", 43.0, 120.0),
        ),
        "Measured between the domes: {value:.0f} mm.",
    ),
)
