"""Short made-up report texts for each simulated examination.

As in ReXVQA they hold the answers, so a bank's importer must keep them from readers and models.
"""

CLEAR = "Lungs clear. No pleural effusion or pneumothorax."
HEART_NORMAL = "Heart size normal."

# Examination key: (findings, impression).
REPORTS = {
    "normal-1": (f"{CLEAR} {HEART_NORMAL}", "Normal chest radiograph."),
    "normal-2": (f"{CLEAR} {HEART_NORMAL}", "No pneumonia."),
    "normal-3": (f"{CLEAR} {HEART_NORMAL}", "No acute cardiopulmonary abnormality."),
    "normal-4": (f"{CLEAR} {HEART_NORMAL}", "No acute cardiopulmonary abnormality."),
    "normal-5": (f"{CLEAR} {HEART_NORMAL}", "No sign of active tuberculosis."),
    "pneumonia-rul": (
        f"Airspace opacity in the right upper lobe down to the minor fissure. {HEART_NORMAL}",
        "Right upper lobe pneumonia.",
    ),
    "nodule-rul": (
        "Solitary round nodule of 18 mm in the right upper zone. No effusion.",
        "Solitary pulmonary nodule; CT advised.",
    ),
    "nodule-left": (
        "Solitary nodule of 27 mm in the left mid zone. No effusion.",
        "Solitary pulmonary nodule; CT advised.",
    ),
    "mass-rul": (
        "Mass of 52 mm in the right upper zone. No effusion.",
        "Suspected bronchial carcinoma.",
    ),
    "metastases": (
        "Multiple round nodules of different size in both lungs.",
        "Pulmonary metastases.",
    ),
    "effusion-left": (
        "Left pleural effusion with a meniscus; left hemidiaphragm obscured.",
        "Moderate left pleural effusion.",
    ),
    "effusion-right": (
        "Right pleural effusion with a meniscus; right hemidiaphragm obscured.",
        "Large right pleural effusion.",
    ),
    "effusion-both": (
        "Both costophrenic angles blunted by fluid.",
        "Bilateral pleural effusions.",
    ),
    "pneumothorax-right": (
        "Right visceral pleural line with no lung markings beyond it. No effusion.",
        "Right pneumothorax.",
    ),
    "pneumothorax-left": (
        "Left visceral pleural line with no lung markings beyond it. No effusion.",
        "Left pneumothorax.",
    ),
    "pneumonia-rll": (
        f"Airspace opacity in the right lower lobe, behind the major fissure. {HEART_NORMAL}",
        "Right lower lobe pneumonia.",
    ),
    "pneumonia-rml": (
        "Airspace opacity in the right middle lobe, wedge-shaped on the lateral view.",
        "Right middle lobe pneumonia.",
    ),
    "pneumonia-lll": (
        "Airspace opacity in the left lower lobe, partly behind the heart.",
        "Left lower lobe pneumonia.",
    ),
    "cardiomegaly": ("Heart enlarged. Lungs clear. No effusion.", "Cardiomegaly."),
    "oedema": (
        "Heart enlarged. Perihilar haze, indistinct vessels. Small effusions on both sides.",
        "Cardiac failure with pulmonary oedema.",
    ),
    "tubes": (
        "Tracheal tube 4 cm above the carina. Right jugular catheter in the superior vena cava. "
        "Nasogastric tube in the stomach. No pneumothorax.",
        "Tubes and line in good position.",
    ),
    "tube-bronchus": (
        "Tip of the tracheal tube in the right main bronchus.",
        "Malpositioned tracheal tube; withdraw.",
    ),
    "pacemaker": (
        "Left pectoral dual-chamber pacemaker, leads in right atrium and right ventricle. "
        "No pneumothorax.",
        "Pacemaker in good position.",
    ),
    "port": (
        "Right pectoral port, catheter tip in the superior vena cava. No pneumothorax.",
        "Port in good position.",
    ),
    "dome": (
        "Right hemidiaphragm far above the left. No effusion.",
        "Elevated right hemidiaphragm; phrenic nerve palsy possible.",
    ),
    "free-air": (
        "Crescent of air under the right hemidiaphragm. Lungs clear.",
        "Pneumoperitoneum.",
    ),
    "cavity": (
        "Thick-walled cavity with an air-fluid level in the left upper zone.",
        "Lung abscess.",
    ),
    "sternotomy-hernia": (
        "Sternal wires. Retrocardiac air-fluid level. No effusion, no pneumothorax.",
        "Hiatal hernia. Condition after sternotomy.",
    ),
}
