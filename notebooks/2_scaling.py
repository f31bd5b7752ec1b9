# %% [markdown]
# # How many workers: scale-out and autoscaling
#
# *Shapes reproduced under the assumptions in the code; the machines are the real ones, elements are counted.*

# %%
from dataclasses import replace

import matplotlib.pyplot as plt
import pandas as pd

from tfsvc_sim.research import Costs, Experiment, Lab, Source
from tfsvc_sim.research.experiment import Buffers
from tfsvc_sim.research.laws import Fixed, LogNormal, Uniform
from tfsvc_sim.research.scaling import SCALERS, Load, TensorFlows
from tfsvc_sim.research.sweep import sweep

# %% [markdown]
# ## E1: the knee of scale-out
#
# Throughput is what trainers demand or what workers make, whichever is less:
# $\min(\sum demand,\ N \cdot rate)$. The knee lies at $N^* = \lceil \sum demand / rate \rceil$. The speed-up over one local worker is
# $\min(\sum demand, N \cdot rate) / rate$; that a paper reports 32 on the average tells of its jobs' demand, not of the service.

# %%
costs = Costs(operators=(Fixed(4.0),), step_ms=Fixed(32.0), batch=32)
endless = Source.even(200_000, 50)
base = Experiment(endless, costs, trainers=2, until_s=5.0, buffers=Buffers(frame=16, worker=64, trainer=512))
demand, rate = base.trainers * costs.demand, costs.worker_rate
workers = [1, 2, 4, 6, 8, 10, 12]
knee = sweep(base, workers=workers, seeds=range(1)).groupby("workers")["goodput"].mean()
oracle = [min(demand, n * rate) for n in workers]

fig, axes = plt.subplots(figsize=(7, 3))
axes.plot(workers, knee.values, "o", label="simulated")
axes.plot(workers, oracle, "-", label="min(demand, N rate)")
axes.axvline(demand / rate, color="grey", linestyle=":", label=f"$N^*$ = {demand / rate:.0f}")
axes.set_xlabel("workers")
axes.set_ylabel("elements a second")
axes.legend()
plt.show()
for n, expected in zip(workers, oracle, strict=True):
    # Where demand and supply are the same, every small delay is lost for good.
    assert abs(knee[n] / expected - 1) < (0.15 if n == demand / rate else 0.05), (n, knee[n], expected)

# %% [markdown]
# A network card or a storage caps it in the same way: $\min(\ldots, bytes\ a\ second / element\ bytes)$.

# %%
capped = 600.0
limits = {
    "storage": replace(costs, storage_bytes_per_s=capped * endless.element_bytes),
    "cards": replace(costs, link_bytes_per_s=capped / base.trainers * endless.element_bytes),
}
found = sweep(replace(base, workers=12), costs=limits, seeds=range(1)).set_index("costs")["goodput"]
print(found.round(0))
assert ((found / capped - 1).abs() < 0.05).all()

# %% [markdown]
# ## E2: TensorFlow's formula, and its bias
#
# $N = \sum demand / \overline{rate}$ equals $N^*$ when all workers are alike. The mean of rates over workers that differ is larger
# than what a mixed crowd of *new* workers must be sized by when speeds are reckoned from mean times: by Jensen's inequality
# $\overline{1/t} \ge 1/\overline{t}$.


# %%
def recommended(worker_ms: list[float]) -> int:
    return TensorFlows().workers(Load(0, len(worker_ms), 1, worker_ms, [1.0] * base.trainers, 1.0, 0, 0, 0))


alike = recommended([4.0] * 8)
mixed = [2.0, 6.0] * 4
print("alike:", alike, "wanted:", demand / rate)
print("mixed, by rates:", recommended(mixed), " by mean times:", round(demand * (sum(mixed) / len(mixed)) / 1000))
assert alike == demand / rate and recommended(mixed) < alike

# %% [markdown]
# ## E11: autoscaling policies head to head
#
# Two trainers, slow at first and twice as fast from the second minute on; workers take four seconds to start, and
# elements and workers differ. Which policy pays for fewest workers and lets trainers wait least?

# %%
noisy = Costs(
    operators=(LogNormal(8.0, 0.8),),
    worker=Uniform(0.8, 1.2),
    step_ms=Fixed(160.0),
    batch=32,
    start_ms=Fixed(4000.0),
)


class Faster(Lab):
    """Trainers that step twice as fast from the second minute on."""

    def set_up(self) -> None:
        super().set_up()
        usual = self.prices.step_ns

        def step_ns(trainer: str, step: int) -> int:
            late = self.now - self.began_at >= 60e9
            return usual(trainer, step) // (2 if late else 1)

        self.prices.step_ns = step_ns


race = Experiment(
    Source.even(500_000, 50),
    noisy,
    workers=2,
    workers_max=30,
    trainers=2,
    until_s=120.0,
    scale_every_s=3.0,
    buffers=Buffers(frame=16, worker=64, trainer=256),
)
rows, series = [], {}
for name, scaler in SCALERS.items():
    lab = Faster(replace(race, scaling=scaler))
    lab.set_up()
    lab.run_to(race.until_s)
    outcome = lab.meter.outcome()
    stall_s = outcome.stall * race.trainers * race.until_s
    rows.append((name, outcome.worker_s, stall_s, outcome.rescalings, outcome.workers_max, outcome.dollars))
    series[name] = lab.meter.series
columns = ["scaling", "worker seconds", "stall seconds", "reversals", "workers at most", "dollars"]
results = pd.DataFrame(rows, columns=columns).set_index("scaling")
results.round(1)

# %%
fig, axes = plt.subplots(figsize=(8, 3.2))
for name, points in series.items():
    axes.step([at for at, _, _ in points], [count for _, count, _ in points], where="post", label=name)
need = [2 * 32 / 160 * 8, 2 * 32 / 80 * 8]
axes.hlines(need, [0, 60], [60, 120], color="black", linestyle=":", label="$N^*$")
axes.set_xlabel("seconds")
axes.set_ylabel("workers")
axes.legend(ncol=3, fontsize=8)
plt.show()

# %% [markdown]
# `Busy` is what Kubernetes does with processor use. A worker whose buffers are full is not busy, so it shrinks well; but a
# share of busy time says nothing of waiting trainers.

# %%
held = results.loc["Hold"]
for name in ("TensorFlows", "Cachews", "Queue", "Busy"):
    assert results.loc[name, "stall seconds"] < held["stall seconds"], name
product = results["stall seconds"] * results["worker seconds"]
product.sort_values().round(0)
