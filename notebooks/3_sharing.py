# %% [markdown]
# # Reading together: the shared cache, and coordinated reads
#
# Several trainers read the same data at the same time. A window over one stream saves the work of making it for each of
# them; rounds of elements of one length save trainers that step together from waiting for the longest.
#
# *Shapes reproduced under the assumptions in the code; the machines are the real ones, elements are counted.*

# %%
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np

from tfsvc_sim.faults import Crash, Fault, Pause
from tfsvc_sim.research import Buffers, Costs, Experiment, Lengths, Reading, Source, run
from tfsvc_sim.research.laws import Fixed, LogNormal

# %% [markdown]
# ## E3: one stream for k trainers
#
# Trainers of the same speed take every element from the window once it was made for the first of them. So what is made does not
# grow with their number, and the hit ratio is $1 - 1/k$.

# %%
STEPS, AHEAD = 2000, 16
costs = Costs(operators=(Fixed(2.0),), step_ms=Fixed(8.0), batch=1)
small = Buffers(worker=AHEAD, trainer=8, cache=256)
base = Experiment(Source.even(20_000, 50), costs, workers=2, steps=STEPS, reading=Reading.CACHED, buffers=small)
trainers = [1, 2, 4, 8]
outcomes = [run(replace(base, trainers=k)) for k in trainers]
hits = [1 - outcome.made / outcome.elements for outcome in outcomes]

fig, axes = plt.subplots(figsize=(6, 3))
axes.plot(trainers, hits, "o", label="simulated")
axes.plot(trainers, [1 - 1 / k for k in trainers], "--", label="1 - 1/k")
axes.set_xlabel("trainers")
axes.set_ylabel("hit ratio")
axes.legend()
plt.show()
for k, hit in zip(trainers, hits, strict=True):
    # What lies ready at the workers at the end was made for nobody.
    assert abs(hit - (1 - 1 / k)) < 0.05, (k, hit)

# %% [markdown]
# Without sharing each trainer has everything made for itself.

# %%
alone = Experiment(Source.even(2000, 50), costs, workers=2, trainers=4, reading=Reading.OWN, buffers=small)
outcome = run(alone)
print(f"made {outcome.made} for 4 trainers of 2,000 elements each")
assert outcome.made == outcome.elements == 4 * 2000

# %% [markdown]
# ## E4: trainers of different speeds
#
# A trainer at rate $r_s$ beside one at $r_f$ falls behind by $r_f - r_s$ elements a second. Once it is behind by the window $W$ of
# every worker, it misses a share $1 - r_s / r_f$ of all elements; before, it misses none: so of the $n$ that the fast one takes it
# misses $n (1 - r_s / r_f) - W_{all}$.

# %%
window, ratios = 64, [1.0, 0.9, 0.75, 0.5, 0.25]
pair = replace(base, trainers=2, buffers=replace(small, cache=window))
missed, expected = [], []
for ratio in ratios:
    # The fast trainer leaves when it has had its steps; the slow one is watched as long.
    outcome = run(replace(pair, slowness=(1.0, 1 / ratio), until_s=STEPS * 0.008))
    missed.append(outcome.skipped / STEPS)
    expected.append(max(0.0, (1 - ratio) - 2 * window / STEPS))

fig, axes = plt.subplots(figsize=(6, 3))
axes.plot(ratios, missed, "o", label="simulated")
axes.plot(ratios, expected, "--", label="$1 - r_s/r_f$, less the window")
axes.set_xlabel("$r_s / r_f$")
axes.set_ylabel("share missed by the slow trainer")
axes.legend()
plt.show()
for ratio, got, want in zip(ratios, missed, expected, strict=True):
    assert abs(got - want) < 0.05, (ratio, got, want)

# %% [markdown]
# A trainer that starts late finds what is in the window, and misses what has left it: with a lag of $\Delta$ seconds
# nothing is missed if $\Delta \cdot r_f < W$.

# %%
rate, both = 1000 / 8, 2 * window
for lag_s in (0.5, 0.9, 2.0, 4.0):
    outcome = run(replace(pair, starts_s=(0.0, lag_s)))
    bound = max(0.0, lag_s * rate - both)
    print(
        f"lag {lag_s} s: {lag_s * rate:.0f} elements behind, window {both}: missed {outcome.skipped}, form {bound:.0f}"
    )
    assert abs(outcome.skipped - bound) <= 30

# %% [markdown]
# ## E5: coordinated reads
#
# Trainers of one model step together, so a step takes as long as the longest of their elements. With $m$ independent lengths
# that is $E[\max_m]$; with rounds of one bucket it is $E[length]$. The law of lengths below is chosen so that eight trainers gain
# about 2.2, which the tf.data service paper reports on the average; with constant lengths there is nothing to gain.

# %%
sigma, steps = 0.62, 600
law = LogNormal(10.0, sigma)
quick = Costs(operators=(Fixed(0.02),))
rounds = Experiment(
    Source.even(60_000, 1000),
    quick,
    workers=1,
    steps=steps,
    reading=Reading.COORDINATED,
    buffers=Buffers(worker=256, trainer=64),
)


def gain(members: int, lengths: LogNormal | Fixed) -> float:
    at_random = run(replace(rounds, trainers=members, lengths=Lengths(lengths, alike=1)))
    in_buckets = run(replace(rounds, trainers=members, lengths=Lengths(lengths, alike=members)))
    return at_random.step_ms / in_buckets.step_ms


units = np.random.default_rng(0).random((4000, 32))
drawn = np.vectorize(law.at)(units)
members = [2, 4, 8, 16]
gains = [gain(m, law) for m in members]
form = [drawn[:, :m].max(axis=1).mean() / drawn.mean() for m in members]
control = [gain(m, Fixed(10.0)) for m in members[:2]]

fig, axes = plt.subplots(figsize=(6, 3))
axes.plot(members, gains, "o", label="simulated")
axes.plot(members, form, "--", label="E[max of m] / E[length]")
axes.plot(members[:2], control, "s", label="constant lengths")
axes.set_xlabel("trainers that step together")
axes.set_ylabel("steps this many times shorter")
axes.legend()
plt.show()
print(dict(zip(members, np.round(gains, 2), strict=True)), "constant:", np.round(control, 2))
for got, want in zip(gains, form, strict=True):
    assert abs(got / want - 1) < 0.1, (got, want)
assert all(abs(value - 1) < 0.02 for value in control)

# %% [markdown]
# ## E6: one that does not come stops all
#
# While one of four trainers stands still, the rounds stand still for everybody, and go on when it does. Nobody is given an
# element of another round.

# %%
four = replace(rounds, trainers=4, lengths=Lengths(law, alike=4), steps=300)
calm = run(four)
held = run(replace(four, faults=(Fault(Pause("reader2"), at_ms=1000, for_ms=5000),)))
print(f"without: {calm.epoch_s:.1f} s; with a pause of 5 s: {held.epoch_s:.1f} s")
assert held.ended and 4.5 <= held.epoch_s - calm.epoch_s <= 6.0 and held.elements == calm.elements

# %%
gone = run(replace(four, faults=(Fault(Crash("reader2"), at_ms=1000, for_ms=None),), until_s=30.0))
print(f"one dies for good: {gone.elements} elements in 30 s, then nobody goes on")
assert gone.elements < calm.elements / 2
