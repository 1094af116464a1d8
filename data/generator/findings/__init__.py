"""Findings: each function changes a chest in 3-D and returns the truth about the finding."""

from collections.abc import Callable, Mapping

from data.generator.findings.hardware import (
    central_line,
    gastric_tube,
    pacemaker,
    port,
    sternal_wires,
    tracheal_tube,
)
from data.generator.findings.tissue import (
    cavity_lesion,
    consolidation,
    effusion,
    free_air,
    hiatal_hernia,
    metastases,
    nodule,
    oedema,
    pneumothorax,
)

FINDINGS: Mapping[str, Callable[..., dict[str, object]]] = {
    "cavity": cavity_lesion,
    "central line": central_line,
    "consolidation": consolidation,
    "effusion": effusion,
    "free air": free_air,
    "gastric tube": gastric_tube,
    "hiatal hernia": hiatal_hernia,
    "metastases": metastases,
    "nodule": nodule,
    "oedema": oedema,
    "pacemaker": pacemaker,
    "pneumothorax": pneumothorax,
    "port": port,
    "sternal wires": sternal_wires,
    "tracheal tube": tracheal_tube,
}
