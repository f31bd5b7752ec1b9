"""``Dataset.with_options``: wishes about how a dataset runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce

from tfsvc.data.operator import Context, Operator, OperatorIterator, UnaryOperator
from tfsvc.data.options import Options


@dataclass(frozen=True, eq=False)
class WithOptions(UnaryOperator):
    """The input's elements; operators below keep to ``options`` where those behind do not say otherwise."""

    options: Options
    name = "with_options"
    shards_by_file = True

    def iterator(self, context: Context) -> OperatorIterator:
        ordered = context.deterministic
        if ordered is None:
            ordered = self.options.deterministic
        return self.input.iterator(replace(context, deterministic=ordered))


def options_of(operator: Operator) -> Options:
    """All options that were set on the way to ``operator``; the last goes first."""
    merged = reduce(Options.merge, map(options_of, operator.inputs), Options())
    return merged.merge(operator.options) if isinstance(operator, WithOptions) else merged
