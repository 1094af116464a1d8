"""One open peer's group measure on given answers, in a Python of its own; prints JSON.

``python group_peers.py PEER MEASURE FILE``: FILE is a .npy of codes, items by raters, without gaps.
Runs without this project, so that a peer under another licence never meets it in one program.
"""

import json
import sys
import time

import numpy as np


def statsmodels(codes, measure):
    """Return Fleiss' kappa by statsmodels."""
    from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

    return lambda: fleiss_kappa(aggregate_raters(codes)[0])


def nltk(codes, measure):
    """Return Davies and Fleiss' kappa, or Krippendorff's alpha, by nltk."""
    from nltk.metrics.agreement import AnnotationTask

    triples = [
        (str(rater), str(item), int(code))
        for item, row in enumerate(codes)
        for rater, code in enumerate(row)
    ]
    name = {"conger_kappa": "multi_kappa", "krippendorff_alpha": "alpha"}[measure]
    return lambda: getattr(AnnotationTask(data=triples), name)()


def irrcac(codes, measure):
    """Return a coefficient by irrCAC."""
    import pandas as pd
    from irrCAC.raw import CAC

    name = {
        "fleiss_kappa": "fleiss",
        "conger_kappa": "conger",
        "krippendorff_alpha": "krippendorff",
        "ac1": "gwet",
        "brennan_prediger": "bp",
    }[measure]
    frame = pd.DataFrame(codes)
    return lambda: getattr(CAC(frame), name)()["est"]["coefficient_value"]


def krippendorff(codes, measure):
    """Return alpha by krippendorff."""
    from krippendorff import alpha

    return lambda: alpha(reliability_data=codes.T.astype(float), level_of_measurement="nominal")


PEERS = {each.__name__: each for each in (statsmodels, nltk, irrcac, krippendorff)}


def main(peer: str, measure: str, path: str) -> None:
    """Time one call, imports and conversion of the data not counted."""
    way = PEERS[peer](np.load(path), measure)
    wall, cpu = time.perf_counter(), time.process_time()
    value = float(way())
    taken = {"wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu}
    print(json.dumps({"value": value, **taken}))


if __name__ == "__main__":
    main(*sys.argv[1:])
