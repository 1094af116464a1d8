"""Planning a study: power and sample size from variance components.

Components (`components`, `pilot`) and a design (`designs`) determine the variance of a difference.
The modules `power` (closed form), `expected` (the analysis that estimates the variances) and
`simulation` calculate the power from it; `table` writes `power.csv`.

>>> from analysis.planning import PUBLISHED, PlanClaim, PowerPlan, cases_needed
>>> plan = PowerPlan(components=PUBLISHED["van-dyke"], effect=0.044)
>>> [cases_needed(plan, 5, claim) for claim in PlanClaim]
[337, 162, 282]
"""

from analysis.planning.components import (
    PUBLISHED,
    Comparison,
    Components,
    components_for,
    components_from,
    published_components,
    read_components,
)
from analysis.planning.designs import PlanDesign, Size
from analysis.planning.expected import expected_power, power_of_analysis
from analysis.planning.pilot import pilot_components
from analysis.planning.power import (
    TARGET_POWER,
    PlanClaim,
    Power,
    PowerPlan,
    cases_needed,
    draw_spread,
    largest_power,
    power,
)
from analysis.planning.table import (
    Sizes,
    cases_needed_lines,
    half_width,
    never_enough_sentence,
    parse_range,
    power_table,
)

__all__ = [
    "PUBLISHED",
    "TARGET_POWER",
    "Comparison",
    "Components",
    "PlanClaim",
    "PlanDesign",
    "Power",
    "PowerPlan",
    "Size",
    "Sizes",
    "cases_needed",
    "cases_needed_lines",
    "components_for",
    "components_from",
    "draw_spread",
    "expected_power",
    "half_width",
    "largest_power",
    "never_enough_sentence",
    "parse_range",
    "pilot_components",
    "power",
    "power_of_analysis",
    "power_table",
    "published_components",
    "read_components",
]
