"""The items that ask what it means and where it is: differential diagnosis and location."""

from data.generator.item import Item

DIAGNOSIS = "What is the most likely diagnosis?"


def _diagnosis(
    key: str,
    right: str,
    wrong: tuple[str, str, str],
    why: str,
    subcategory: str,
    question: str = DIAGNOSIS,
    category: str = "Lung",
) -> Item:
    return Item(
        key=key,
        task="Differential Diagnosis",
        category=category,
        subcategory=subcategory,
        question=question,
        right=right,
        wrong=wrong,
        why=why,
    )


def _location(
    key: str,
    question: str,
    right: str,
    wrong: tuple[str, str, str],
    why: str,
    subcategory: str,
    category: str = "Lung",
) -> Item:
    return Item(
        key=key,
        task="Location and Distribution Assessment",
        category=category,
        subcategory=subcategory,
        question=question,
        right=right,
        wrong=wrong,
        why=why,
    )


DIFFERENTIAL = (
    _diagnosis(
        "pneumonia-rll",
        "Lobar pneumonia",
        ("Cardiogenic pulmonary oedema", "Pneumothorax", "Pulmonary metastases"),
        "A unilateral airspace opacity of one lobe with fever.",
        "Consolidation",
        question="Given fever, what is the most likely cause of the pulmonary opacity?",
    ),
    _diagnosis(
        "pneumonia-rml",
        "Pneumonia of one lobe",
        ("Pleural effusion", "Cardiogenic pulmonary oedema", "Pulmonary metastases"),
        "The opacity fills one lobe and ends at its fissures.",
        "Consolidation",
        question="Given fever and cough, what is the most likely cause of the right-sided opacity?",
    ),
    _diagnosis(
        "mass-rul",
        "Primary lung carcinoma",
        ("Lobar pneumonia", "Pleural effusion", "Lung abscess with an air-fluid level"),
        "A solid mass of 5 cm in a heavy smoker.",
        "Mass",
    ),
    _diagnosis(
        "metastases",
        "Pulmonary metastases",
        ("Lobar pneumonia", "Cardiogenic pulmonary oedema", "Primary spontaneous pneumothorax"),
        "Many round nodules in both lungs in a patient with a known tumour.",
        "Nodule",
    ),
    _diagnosis(
        "effusion-right",
        "Pleural effusion",
        ("Pneumothorax", "Right upper lobe pneumonia", "Pneumoperitoneum"),
        "A homogeneous basal opacity whose upper border climbs along the chest wall.",
        "Effusion",
        question="What is the most likely cause of the opacity on the right?",
        category="Pleura",
    ),
    _diagnosis(
        "pneumothorax-right",
        "Spontaneous pneumothorax",
        ("Lobar pneumonia", "Cardiac failure", "Hiatal hernia"),
        "A pleural line without markings beyond it in a young man with sudden pain.",
        "Pneumothorax",
        category="Pleura",
    ),
    _diagnosis(
        "oedema",
        "Congestive heart failure",
        ("Pulmonary metastases", "Lobar pneumonia", "Spontaneous pneumothorax"),
        "Enlarged heart, perihilar opacity on both sides and small effusions.",
        "Oedema",
        category="Heart and mediastinum",
    ),
    _diagnosis(
        "free-air",
        "Perforation of a hollow viscus",
        ("Right pneumothorax", "Right lower lobe pneumonia", "Cardiac failure"),
        "Air lies free under the diaphragm in a patient with an acute abdomen.",
        "Free air",
        category="Abdomen",
    ),
    _diagnosis(
        "cavity",
        "Lung abscess",
        ("Pulmonary oedema", "Pneumothorax", "Uncomplicated simple pleural effusion"),
        "A thick-walled cavity with an air-fluid level and fever.",
        "Cavity",
    ),
    _diagnosis(
        "sternotomy-hernia",
        "Hiatal hernia",
        ("Pneumothorax", "Right upper lobe pneumonia", "Pulmonary metastases"),
        "A sac behind the heart holds gas above a fluid level.",
        "Hernia",
        question="What is the most likely cause of the retrocardiac air-fluid level?",
        category="Heart and mediastinum",
    ),
    _diagnosis(
        "dome",
        "Phrenic nerve palsy",
        ("Tension pneumothorax", "Lobar pneumonia", "Congestive heart failure"),
        "One hemidiaphragm is far too high and the lung above it is clear.",
        "Diaphragm",
        question="Which of the following explains the main abnormality best?",
        category="Abdomen",
    ),
)

LOCATION = (
    _location(
        "pneumonia-rul",
        "In which lobe is the consolidation located?",
        "Right upper lobe",
        ("Right middle lobe", "Right lower lobe", "Left upper lobe"),
        "It lies above the minor fissure.",
        "Consolidation",
    ),
    _location(
        "pneumonia-rll",
        "In which lobe is the consolidation located?",
        "Right lower lobe",
        ("Right middle lobe", "Right upper lobe", "Left lower lobe"),
        "On the lateral view it lies behind the major fissure.",
        "Consolidation",
    ),
    _location(
        "pneumonia-rml",
        "In which lobe is the consolidation located?",
        "Right middle lobe",
        ("Right upper lobe", "Right lower lobe", "Left lower lobe"),
        "On the lateral view it is a wedge between minor and major fissure.",
        "Consolidation",
    ),
    _location(
        "pneumonia-lll",
        "In which lobe is the consolidation located?",
        "Left lower lobe",
        ("Left upper lobe", "Right lower lobe", "Right middle lobe"),
        "It lies behind the heart and, on the lateral view, behind the major fissure.",
        "Consolidation",
    ),
    _location(
        "nodule-rul",
        "Where is the pulmonary nodule located?",
        "Right upper zone",
        ("Right lower zone", "Left upper zone", "Left lower zone"),
        "It projects over the upper third of the right lung.",
        "Nodule",
    ),
    _location(
        "cavity",
        "Where is the cavity located?",
        "Left upper zone",
        ("Left lower zone", "Right upper zone", "Right lower zone"),
        "It projects over the upper third of the left lung.",
        "Cavity",
    ),
    _location(
        "effusion-left",
        "Where is the pleural effusion located?",
        "Left hemithorax only",
        ("Right hemithorax only", "Both hemithoraces", "Along the right minor fissure"),
        "The fluid lies in the left pleural space; the right angle is sharp.",
        "Effusion",
        category="Pleura",
    ),
    _location(
        "tube-bronchus",
        "Where is the tip of the endotracheal tube?",
        "Right main bronchus",
        ("Left main bronchus", "Trachea, 4 cm above the carina", "Trachea, at the thoracic inlet"),
        "It has passed the carina and turned to the right.",
        "Tube",
        category="Devices",
    ),
    _location(
        "port",
        "Where is the tip of the central venous catheter?",
        "Superior vena cava",
        ("Right ventricle", "Left brachiocephalic vein", "Right internal jugular vein in the neck"),
        "It projects over the right upper mediastinal border above the atrium.",
        "Line",
        category="Devices",
    ),
)
