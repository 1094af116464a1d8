"""The items that ask what is there: presence and negation."""

from data.generator.item import Item

PRESENT = "Which of the following findings is present on this chest radiograph?"
DEVICE = "Which of the following devices is present on this chest radiograph?"
NOT_SEEN = "Which of the following is NOT seen on this chest radiograph?"
NOT_TRUE = "Which of the following statements about this chest radiograph is NOT correct?"
CLEAR_ANGLES = "Sharp costophrenic angles on both sides"


def _presence(
    key: str,
    right: str,
    wrong: tuple[str, str, str],
    why: str,
    question: str = PRESENT,
    category: str = "Lung",
    subcategory: str = "Finding",
) -> Item:
    return Item(
        key=key,
        task="Presence Assessment",
        category=category,
        subcategory=subcategory,
        question=question,
        right=right,
        wrong=wrong,
        why=why,
    )


def _negation(
    key: str,
    right: str,
    wrong: tuple[str, str, str],
    why: str,
    question: str = NOT_SEEN,
    category: str = "Lung",
    subcategory: str = "Finding",
) -> Item:
    return Item(
        key=key,
        task="Negation Assessment",
        category=category,
        subcategory=subcategory,
        question=question,
        right=right,
        wrong=wrong,
        why=why,
    )


PRESENCE = (
    _presence(
        "normal-1",
        "No acute cardiopulmonary abnormality",
        ("Right pleural effusion", "Left lower lobe consolidation", "Cardiomegaly with oedema"),
        "Lungs, pleura and heart are normal.",
        question="Which of the following best describes this chest radiograph?",
        subcategory="Normal",
    ),
    _presence(
        "normal-3",
        "No pneumothorax on either side",
        ("Right pneumothorax", "Left pneumothorax", "Pneumothorax on both sides"),
        "Lung markings reach the chest wall on both sides.",
        question="What does this chest radiograph show with regard to pneumothorax?",
        category="Pleura",
        subcategory="Normal",
    ),
    _presence(
        "pneumonia-rul",
        "Airspace consolidation",
        ("Pneumothorax", "Pleural effusion", "Cardiomegaly"),
        "The right upper lobe is opaque, with air in the bronchi.",
        subcategory="Consolidation",
    ),
    _presence(
        "nodule-left",
        "Solitary pulmonary nodule",
        ("Pleural effusion", "Lobar consolidation", "Pneumothorax"),
        "One round opacity lies in the left lung.",
        subcategory="Nodule",
    ),
    _presence(
        "metastases",
        "Multiple pulmonary nodules",
        ("Solitary pulmonary mass", "Bilateral pleural effusions", "Free air under the diaphragm"),
        "Round opacities of different size are scattered over both lungs.",
        subcategory="Nodule",
    ),
    _presence(
        "effusion-both",
        "Pleural effusion on both sides",
        ("Pleural effusion on the right only", "Pleural effusion on the left only", "No effusion"),
        "Both costophrenic angles are blunted by a meniscus.",
        question="What does this chest radiograph show with regard to pleural effusion?",
        category="Pleura",
        subcategory="Effusion",
    ),
    _presence(
        "pneumothorax-left",
        "Pneumothorax",
        ("Pleural effusion", "Cardiomegaly", "Multiple pulmonary nodules"),
        "A visceral pleural line is visible in the left hemithorax without markings beyond it.",
        category="Pleura",
        subcategory="Pneumothorax",
    ),
    _presence(
        "cardiomegaly",
        "Enlarged cardiac silhouette",
        ("Pneumothorax", "Pulmonary mass", "Free air under the diaphragm"),
        "The heart is wider than half of the chest.",
        category="Heart and mediastinum",
        subcategory="Cardiomegaly",
    ),
    _presence(
        "tubes",
        "Endotracheal tube",
        ("Cardiac pacemaker", "Implanted venous port", "Median sternotomy wires"),
        "A tube with an opaque stripe lies in the trachea.",
        question=DEVICE,
        category="Devices",
        subcategory="Tube",
    ),
    _presence(
        "pacemaker",
        "Cardiac pacemaker",
        ("Endotracheal tube", "Implanted venous port", "Nasogastric tube"),
        "A generator lies over the left chest and two leads run to the heart.",
        question=DEVICE,
        category="Devices",
        subcategory="Cardiac device",
    ),
    _presence(
        "port",
        "Implanted venous port",
        ("Cardiac pacemaker", "Endotracheal tube", "Median sternotomy wires"),
        "A port chamber lies over the right chest with its catheter in the cava.",
        question=DEVICE,
        category="Devices",
        subcategory="Line",
    ),
    _presence(
        "sternotomy-hernia",
        "Median sternotomy wires",
        ("Cardiac pacemaker", "Endotracheal tube", "Implanted venous port"),
        "Wire loops surround the sternum.",
        question=DEVICE,
        category="Devices",
        subcategory="Surgical",
    ),
    _presence(
        "free-air",
        "Free air under the right hemidiaphragm",
        ("Right pleural effusion", "Right pneumothorax", "Left lower lobe consolidation"),
        "A crescent of air separates the right hemidiaphragm from the liver.",
        category="Abdomen",
        subcategory="Free air",
    ),
    _presence(
        "cavity",
        "Cavity with an air-fluid level",
        ("Pleural effusion", "Cardiomegaly", "Pneumothorax"),
        "A thick-walled ring in the left lung holds air above a horizontal level.",
        subcategory="Cavity",
    ),
)

NEGATION = (
    _negation(
        "normal-2",
        "The heart is enlarged",
        ("The lungs are clear", "There is no pneumothorax", "Both costophrenic angles are sharp"),
        "The heart's width is less than half of the chest's.",
        question=NOT_TRUE,
        subcategory="Normal",
    ),
    _negation(
        "normal-4",
        "There is a consolidation in the right upper lobe",
        ("The heart is of normal size", "There is no pleural effusion", "No device is visible"),
        "Both lungs are clear.",
        question=NOT_TRUE,
        subcategory="Normal",
    ),
    _negation(
        "normal-5",
        "There is a left pleural effusion",
        ("The upper zones are clear", "The heart is of normal size", "There is no pneumothorax"),
        "Both costophrenic angles are sharp.",
        question=NOT_TRUE,
        category="Pleura",
        subcategory="Normal",
    ),
    _negation(
        "pneumonia-rul",
        "Blunting of the left costophrenic angle",
        (
            "Opacity in the right upper zone",
            "Lower border of the opacity along the minor fissure",
            "Clear left lung",
        ),
        "The left pleural space is free of fluid.",
        category="Pleura",
        subcategory="Effusion",
    ),
    _negation(
        "nodule-rul",
        "A nodule in the left lung",
        ("A nodule in the right lung", CLEAR_ANGLES, "A heart of normal size"),
        "The only nodule is in the right lung.",
        subcategory="Nodule",
    ),
    _negation(
        "effusion-left",
        "Right pleural effusion",
        (
            "Obscured left hemidiaphragm",
            "Opacity of the left lower zone",
            "Meniscus along the left chest wall",
        ),
        "The right costophrenic angle is sharp.",
        category="Pleura",
        subcategory="Effusion",
    ),
    _negation(
        "effusion-right",
        "Left pleural effusion",
        (
            "Obscured right hemidiaphragm",
            "Opacity of the right lower zone",
            "Meniscus along the right chest wall",
        ),
        "The left costophrenic angle is sharp.",
        category="Pleura",
        subcategory="Effusion",
    ),
    _negation(
        "pneumothorax-right",
        "Pleural effusion",
        (
            "Visceral pleural line on the right",
            "No lung markings along the right lateral chest wall",
            "Partly collapsed right lung",
        ),
        "There is air but no fluid in the right pleural space.",
        category="Pleura",
        subcategory="Pneumothorax",
    ),
    _negation(
        "cardiomegaly",
        "Pleural effusion",
        ("Cardiothoracic ratio above 0.5", "Lungs without consolidation", CLEAR_ANGLES),
        "The costophrenic angles are sharp.",
        category="Heart and mediastinum",
        subcategory="Cardiomegaly",
    ),
    _negation(
        "oedema",
        "Pneumothorax",
        ("Enlarged heart", "Perihilar opacity", "Blunted costophrenic angles"),
        "No visceral pleural line is visible.",
        category="Heart and mediastinum",
        subcategory="Oedema",
    ),
    _negation(
        "tubes",
        "Cardiac pacemaker",
        ("Endotracheal tube", "Central venous catheter", "Nasogastric tube"),
        "Tracheal tube, jugular catheter and nasogastric tube are present; there is no pacemaker.",
        category="Devices",
        subcategory="Tube",
    ),
    _negation(
        "pacemaker",
        "Endotracheal tube",
        (
            "Generator over the left upper chest",
            "Lead with its tip in the right ventricle",
            "Lead with its tip in the right atrium",
        ),
        "The trachea holds no tube.",
        category="Devices",
        subcategory="Cardiac device",
    ),
    _negation(
        "sternotomy-hernia",
        "Pneumothorax",
        ("Sternal wires", "Retrocardiac air-fluid level", "Soft tissue behind the heart"),
        "No visceral pleural line is visible.",
        category="Heart and mediastinum",
        subcategory="Hernia",
    ),
    _negation(
        "port",
        "Pneumothorax",
        ("Port over the right chest", "Catheter in the superior vena cava", CLEAR_ANGLES),
        "There is no visceral pleural line after the implantation.",
        category="Devices",
        subcategory="Line",
    ),
    _negation(
        "cavity",
        "A lesion in the right lung",
        ("An air-fluid level", "A thick-walled lesion in the left lung", CLEAR_ANGLES),
        "The only lesion is in the left lung.",
        subcategory="Cavity",
    ),
)
