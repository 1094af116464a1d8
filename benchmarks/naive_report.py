"""The baseline of the report: a script that prints accuracies and kappas without intervals."""

import sys
from itertools import combinations
from pathlib import Path

import pandas as pd
from sklearn.metrics import cohen_kappa_score


def main(folder: Path) -> None:
    """Print each rater's accuracy, and each pair's kappa on the items that both answered."""
    items = pd.read_csv(folder / "items.csv")
    readings = pd.read_csv(folder / "readings.csv", low_memory=False)
    merged = readings.merge(items[["item_id", "truth"]], on="item_id")
    print((merged["answer"] == merged["truth"]).groupby(merged["rater_id"]).mean())
    wide = readings.pivot(index="item_id", columns="rater_id", values="answer")
    for a, b in combinations(wide.columns, 2):
        both = wide[[a, b]].dropna()
        print(a, b, cohen_kappa_score(both[a].astype(object), both[b].astype(object)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
