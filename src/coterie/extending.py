"""What one's own criterion, search, aggregation or family is made of.

Each is one object that is passed in: ``CustomCFA(criterion)``, ``search=``, ``aggregation=``,
``family=``. See the page on extending coterie in the docs.
"""

from coterie._core.aggregations import Additive, Linear, Weights
from coterie._core.criteria import Criterion
from coterie._core.evidence import PairColumns, PairMoments, RunningAggregate
from coterie._core.search import Limits, Question, Search, outcome
from coterie._core.values import Decision, Partition, SearchResult, Trace, Verdict
from coterie.families import Family, Link

__all__ = [
    "Additive",
    "Criterion",
    "Decision",
    "Family",
    "Limits",
    "Linear",
    "Link",
    "PairColumns",
    "PairMoments",
    "Partition",
    "Question",
    "RunningAggregate",
    "Search",
    "SearchResult",
    "Trace",
    "Verdict",
    "Weights",
    "outcome",
]
