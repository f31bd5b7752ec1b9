# %% [markdown]
# # Write your own policy
#
# From an idea to a result that may be believed, in three steps: say what is different, have the contract of policies try
# to break it, and compare it with the others under the same luck.
#
# *Shapes reproduced under the assumptions in the code.*

# %% [markdown]
# ## 1. An idea
#
# Guided leases become smaller as less is left. They count splits, though, and files differ. Let us cut large files into
# pieces, lease a few at a time, and only one when the end is near.

# %%
from collections.abc import Sequence

import matplotlib.pyplot as plt

from tfsvc.protocol.splits import Span
from tfsvc.protocol.steering import LeaseQuestion
from tfsvc_sim.faults import Fault, Slow
from tfsvc_sim.research import Costs, Experiment, Policy, Source
from tfsvc_sim.research.contract import check
from tfsvc_sim.research.laws import Fixed, LogNormal
from tfsvc_sim.research.source import cut_into
from tfsvc_sim.research.sweep import compare, sweep


class FewThenOne(Policy):
    """Pieces of 32 elements; four at a time, and single ones in the last fifth."""

    def splits(self, source: Source, workers: int) -> Sequence[Span]:
        return list(cut_into(source.spans(), 32))

    def lease(self, question: LeaseQuestion) -> int:
        if question.left is None or question.total is None:
            return question.wanted
        return 4 if question.left > question.total / 5 else 1


# %% [markdown]
# ## 2. The contract
#
# One line plays the policy through random scenarios with real pipelines, every pair of seven faults on a small cluster, crowds of
# crashes, and looks whether a seed runs alike twice. It raises where something is lost, repeated, never ends or is not
# deterministic, and says with which seed and faults.

# %%
print(check(FewThenOne, seeds=10), "parts of the contract hold")

# %% [markdown]
# What it says of a policy that is wrong: this one forgets the last split.


# %%
class Forgetful(FewThenOne):
    def splits(self, source: Source, workers: int) -> Sequence[Span]:
        return super().splits(source, workers)[:-1] or source.spans()


try:
    check(Forgetful, seeds=1)
except AssertionError as error:
    print("AssertionError:", error)
else:
    raise SystemExit("a policy that loses elements must not pass")

# %% [markdown]
# ## 3. A comparison
#
# Every policy meets the same costs of the same elements, the same slow worker and the same crashes at the same seed, so we look
# at differences seed by seed, with their 95 % intervals.

# %%
costs = Costs(operators=(LogNormal(4.0, 1.0),), open_ms=Fixed(10.0), worker=LogNormal(1.0, 0.2), step_ms=Fixed(1.0))
base = Experiment(
    Source.zipf(10_000, 60, 0.8), costs, workers=8, faults=(Fault(Slow("worker5", 4), for_ms=None),), until_s=600
)
table = sweep(base, policy=["OneByOne", "Pieces", FewThenOne], crash_rate=[0, 120], seeds=range(5))
assert table["ended"].all() and not table["missing"].any() and not table["repeated"].any()
differences = compare(table, "policy", "epoch_s", against="OneByOne")
differences.round(2)

# %%
fig, axes = plt.subplots(figsize=(7, 3))
for rate, part in differences.groupby("crash_rate"):
    axes.errorbar(
        part["policy"], part["difference"], yerr=part["half_width"], fmt="o", capsize=4, label=f"{rate} crashes an hour"
    )
axes.axhline(0, color="grey", linewidth=0.8)
axes.set_ylabel("time to epoch beside OneByOne, s")
axes.legend()
plt.show()

# %% [markdown]
# An interval that holds zero says that so few seeds cannot tell. Whether the gain is worth it is for you to say: change the
# costs, take more seeds, and run it again.

# %%
calm = differences[(differences["policy"] == "FewThenOne") & (differences["crash_rate"] == 0)]
assert (calm["difference"] < 0).all(), "cutting files should help where one worker is slow"
