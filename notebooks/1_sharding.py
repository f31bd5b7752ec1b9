# %% [markdown]
# # Who reads what: sharding policies under stragglers and crashes
#
# Eight workers read files of very different sizes; one worker is four times slower than the others. Which way of
# dividing the work ends first? What does a crash cost, and what does each promise of delivery lose or repeat?
#
# The dispatcher, workers and readers are the real machines of tfsvc; only elements are counted instead of made, and time
# is simulated. *Shapes reproduced under the assumptions in the code; the numbers are theirs.*

# %%
from dataclasses import replace

import matplotlib.pyplot as plt

from tfsvc_sim.faults import Crash, Fault, Slow
from tfsvc_sim.research import Costs, Experiment, Source, run
from tfsvc_sim.research.laws import Fixed
from tfsvc_sim.research.policies import POLICIES, LargestFirst, OneByOne, pieces_of
from tfsvc_sim.research.sweep import compare, sweep

ELEMENT_MS, WORKERS, SLOWED = 4.0, 8, 4
costs = Costs(operators=(Fixed(ELEMENT_MS),), step_ms=Fixed(1.0), batch=32)
source = Source.zipf(20_000, files=400, exponent=0.7)
straggler = Fault(Slow("worker3", SLOWED), for_ms=None)
base = Experiment(source, costs, workers=WORKERS, faults=(straggler,), until_s=600)

# %% [markdown]
# ## E7: static, dynamic, stealing
#
# The oracle: no policy is faster than all workers working to the end together, `ideal`. A policy that hands out the next
# split to whoever is free ends at most one split later: `ideal + longest split at the slowest worker` (Graham's bound for
# list scheduling). A static division waits for the straggler.

# %%
speed = (WORKERS - 1 + 1 / SLOWED) / ELEMENT_MS * 1000
ideal = source.elements / speed
longest = max(source.files) * ELEMENT_MS / 1000 * SLOWED
table = sweep(base, policy=list(POLICIES), seeds=range(2))
ends = table.groupby("policy")["epoch_s"].mean().sort_values()
print(f"ideal {ideal:.1f} s; bound {ideal + longest:.1f} s")
ends.round(1)

# %%
fig, axes = plt.subplots(figsize=(7, 3))
axes.barh(ends.index, ends.values, color="#4477aa")
axes.axvline(ideal, color="black", label="ideal")
axes.axvline(ideal + longest, color="black", linestyle=":", label="bound of list scheduling")
axes.set_xlabel("time to epoch, s (8 workers, one 4 times slower)")
axes.legend()
plt.show()

slack_s = 1.0  # for the time to begin, and the network
for policy in ("OneByOne", "LargestFirst", "Pieces"):
    assert ideal <= ends[policy] <= ideal + longest + slack_s
assert ends["Static"] > ends["OneByOne"] > ideal

# %% [markdown]
# All policies met the same luck, so differences may be taken seed by seed.

# %%
compare(table, "policy", "epoch_s", against="OneByOne").round(2)

# %% [markdown]
# ## E8: how large should a split be?
#
# Small splits cost a call to the dispatcher each, large ones leave a tail. With files cut into pieces of `n` elements, each
# with an opening cost `c` at the storage, we expect about
#
# $$ T(n) = \frac{N (e + c / n)}{s} + \frac{n e k + c}{2} $$
#
# where `e` is an element's cost, `s` the speed of all workers in units of one, and `k` the straggler's factor: a
# U, with its bottom at $n^* = \sqrt{2 N c / (s\,e\,k)}$.

# %%
OPEN_MS = 20.0
opening = replace(base, costs=replace(costs, open_ms=Fixed(OPEN_MS)))
sizes = [4, 8, 16, 32, 64, 128, 256, 512]
cut = replace(opening, source=Source.even(8000, 8000))
by_size = sweep(cut, policy={n: pieces_of(n) for n in sizes}, seeds=range(1)).groupby("policy")["epoch_s"].mean()

N, e, c, k = 8000, ELEMENT_MS / 1000, OPEN_MS / 1000, SLOWED
s = WORKERS - 1 + 1 / SLOWED
form = [N * (e + c / n) / s + (n * e * k + c) / 2 for n in sizes]
best = (2 * N * c / (s * e * k)) ** 0.5

fig, axes = plt.subplots(figsize=(7, 3))
axes.plot(sizes, by_size.values, "o-", label="simulated")
axes.plot(sizes, form, "--", label="closed form")
axes.axvline(best, color="grey", linestyle=":", label=f"$n^*$ = {best:.0f}")
axes.set_xscale("log", base=2)
axes.set_xlabel("elements of a split")
axes.set_ylabel("time to epoch, s")
axes.legend()
plt.show()

bottom = by_size.idxmin()
assert best / 4 <= bottom <= best * 4, bottom
assert by_size[sizes[0]] > 1.5 * by_size[bottom] and by_size[sizes[-1]] > 1.1 * by_size[bottom]

# %% [markdown]
# ## E9: what a crash costs
#
# Workers die again and again and are back after two seconds. Exactly once means that nothing is missing and nothing comes
# twice, at any rate; the price is work that is done again: what was made, less what was taken.

# %%
rates = [0, 120, 480]
calm = replace(base, faults=(), restart_s=2.0, source=Source.even(20_000, 50))
crashes = sweep(calm, policy=[OneByOne, "Pieces", "Static"], crash_rate=rates, seeds=range(3))
assert crashes["missing"].sum() == 0 and crashes["repeated"].sum() == 0 and crashes["ended"].all()
crashes["again"] = (crashes["made"] - crashes["elements"]) / crashes["elements"]
again = crashes.pivot_table(index="crash_rate", columns="policy", values="again")
longer = crashes.pivot_table(index="crash_rate", columns="policy", values="epoch_s")

fig, axes = plt.subplots(1, 2, figsize=(9, 3))
(100 * again).plot(ax=axes[0], marker="o", ylabel="made again, %", xlabel="crashes of a worker in an hour")
longer.plot(ax=axes[1], marker="o", ylabel="time to epoch, s", xlabel="crashes of a worker in an hour")
plt.tight_layout()
plt.show()
assert (again.loc[0] == 0).all() and (again.loc[480] > 0).all()

# %% [markdown]
# With one crash the price is bounded: the lanes of the lost worker are run again from their last checkpoints, so no more
# than what it had made is made again.

# %%
made_by_then = []
for at_s in (1, 2, 4):
    one = replace(calm, policy=LargestFirst, faults=(Fault(Crash("worker2"), at_ms=at_s * 1000, for_ms=60_000),))
    outcome = run(one)
    bound = at_s * 1000 / ELEMENT_MS
    print(f"crash after {at_s} s: {outcome.made - outcome.elements} made again, at most {bound:.0f}")
    assert 0 < outcome.made - outcome.elements <= bound and outcome.missing == outcome.repeated == 0
