"""What came out of comparing many pipelines, counted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from tests.interop.seeing import is_failure
from tests.pipelines.pipeline import OPERATORS

if TYPE_CHECKING:
    # Counting needs no TensorFlow.
    from tests.interop.likeness import Comparison


@dataclass
class Tally:
    """Counts over pipelines.

    Attributes:
      pipelines: a digest of each, so that nothing is counted twice.
      operators: how often each operator was part of one.
      errors: how many pipelines gave an error of each class, when built or when read.
      allowed: how many differences each allowance explains.
      differences: what nothing explains, each told as a text.
    """

    pipelines: set[str] = field(default_factory=set)
    operators: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    allowed: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)

    def count(self, comparison: Comparison) -> bool:
        """Counts one pipeline, unless it was there before; whether it was not."""
        digest = blake2b(comparison.pipeline.code.encode(), digest_size=8).hexdigest()
        if digest in self.pipelines:
            return False
        self.pipelines.add(digest)
        self.operators.update(comparison.pipeline.operators)
        seen = comparison.theirs
        failures = dict.fromkeys(event for epoch in seen.epochs for event in epoch if is_failure(event))
        self.errors.update(f"{failure}, when read" for failure in failures)
        self.errors.update([f"{seen.failure}, when built"] if seen.failure else [])
        self.allowed.update(comparison.allowed)
        return True

    def add(self, other: Tally) -> None:
        """Counts what another process has counted."""
        self.pipelines |= other.pipelines
        self.operators.update(other.operators)
        self.errors.update(other.errors)
        self.allowed.update(other.allowed)
        self.differences += other.differences

    @property
    def never_drawn(self) -> list[str]:
        """Operators that were part of none."""
        return [name for name in OPERATORS if not self.operators[name]]

    def to_json(self) -> dict[str, Any]:
        return {**vars(self), "pipelines": sorted(self.pipelines)}

    @staticmethod
    def from_json(value: dict[str, Any]) -> Tally:
        counters = {name: Counter(value[name]) for name in ("operators", "errors", "allowed")}
        return Tally(set(value["pipelines"]), differences=value["differences"], **counters)

    def __str__(self) -> str:
        parts = {"operators": self.operators, "errors": self.errors, "explained differences": self.allowed}
        return "\n".join(
            f"{what}:\n" + "\n".join(f"  {count:>7,}  {name}" for name, count in counter.most_common())
            for what, counter in parts.items()
        )
