"""The reducers with all decisions in their trace, the refusals too."""

from functools import partial

import coterie

NonLinCFA = partial(coterie.NonLinCFA, trace="all")
GenLinCFA = partial(coterie.GenLinCFA, trace="all")
LinCFA = partial(coterie.LinCFA, trace="all")
MutualCFA = partial(coterie.MutualCFA, trace="all")
