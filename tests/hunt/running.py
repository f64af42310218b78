"""Many tries of many laws, and what is told about them."""

from __future__ import annotations

import traceback
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from hunt.trials import Law, SkippedError, Trial

# A law that failed so often is not tried again.
FAILURES = 3
# No law may say nothing about more than this share of its problems.
MOST_SKIPPED = 0.15


@dataclass(frozen=True)
class Failure:
    """A problem that broke a law."""

    law: str
    seed: int
    problem: str
    error: str

    def __str__(self) -> str:
        return "\n".join(
            [
                f"BROKEN: {self.law}, seed {self.seed}",
                self.error.strip(),
                self.problem,
                "Again, with tests/ on PYTHONPATH:",
                f"    python -m hunt --law '{self.law}' --seed {self.seed} --cases 1",
                "or, in Python, to look at trial.problem:",
                "    from hunt.laws import LAWS",
                "    from hunt.trials import Trial",
                f"    trial = Trial({self.seed})",
                f"    LAWS[{self.law!r}](trial)",
            ]
        )


@dataclass
class Tally:
    """What was tried: of each law how often, and with which values of each parameter."""

    tried: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    values: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def run(self, name: str, law: Law, seed: int) -> Failure | None:
        """Try a law on the problem of a seed; the failure, if it fails."""
        trial = Trial(seed)
        self.tried[name] += 1
        failure = None
        try:
            law(trial)
        except SkippedError:
            self.skipped[name] += 1
        except Exception:
            # Whatever goes wrong with a problem that is right breaks the law.
            error = traceback.format_exc(limit=-2)
            failure = Failure(name, seed, str(trial.problem), error)
            self.failures.append(failure)
        for parameter, value in trial.told().items():
            self.values[parameter][value] += 1
        return failure

    def failed(self, name: str) -> int:
        """How often a law was broken."""
        return sum(failure.law == name for failure in self.failures)

    def skips_too_many(self, name: str) -> bool:
        """Whether a law says nothing about too many problems."""
        return self.skipped[name] > max(3, MOST_SKIPPED * self.tried[name])

    def lines(self) -> Iterator[str]:
        """The laws, then the values of each parameter, with how often each was tried."""
        yield "  tried  skipped  broken  law"
        for name, count in self.tried.items():
            skipped = f"{self.skipped[name]:,}" + ("!" if self.skips_too_many(name) else "")
            yield f"{count:7,}  {skipped:>7}  {self.failed(name):6,}  {name}"
        yield "\nHow often each value was tried:"
        for parameter, values in self.values.items():
            told = ", ".join(f"{value} {count:,}" for value, count in values.most_common())
            yield f"  {parameter}: {told}"
