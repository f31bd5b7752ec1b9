"""Sources: data as an experiment sees it — elements that are numbered, in files of given sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from tfsvc.protocol.splits import Span
from tfsvc_sim.research.draws import Draws


@dataclass(frozen=True, slots=True)
class Source:
    """A dataset.

    Attributes:
      files: how many elements each file holds.
      element_bytes: the size of an element on its way to a trainer.
    """

    files: tuple[int, ...]
    element_bytes: int = 10_000

    @classmethod
    def even(cls, elements: int, per_file: int, element_bytes: int = 10_000) -> Source:
        """Files of the same size; the last may be smaller."""
        whole, rest = divmod(elements, per_file)
        return cls((per_file,) * whole + ((rest,) if rest else ()), element_bytes)

    @classmethod
    def zipf(cls, elements: int, files: int, exponent: float = 1.0, element_bytes: int = 10_000) -> Source:
        """Files of which the k-th largest holds a share that goes with k**-exponent, in no order.

        Each holds one element at least.
        """
        weights = [(k + 1) ** -exponent for k in range(files)]
        sizes = [max(1, round(elements * weight / sum(weights))) for weight in weights]
        sizes[0] += elements - sum(sizes)
        draws = Draws(files, "order of files")
        order = sorted(range(files), key=draws.unit)
        return cls(tuple(sizes[k] for k in order), element_bytes)

    @property
    def elements(self) -> int:
        return sum(self.files)

    def spans(self) -> list[Span]:
        """The elements of each file."""
        ends = list(accumulate(self.files))
        return [Span(end - size, end) for size, end in zip(self.files, ends, strict=True)]


def cut_into(spans: Sequence[Span], size: int) -> Iterator[Span]:
    """The same elements in pieces of ``size`` at the most."""
    for lo, hi in spans:
        for at in range(lo, hi, size):
            yield Span(at, min(at + size, hi))
