# %% [markdown]
# # Calibration: from a real run to a model, and back
#
# A model is worth what it foretells. Here a real service runs on gRPC on this machine: workers whose elements take 2 to 6 ms, and
# a trainer whose steps take 20 ms. What single elements, calls and steps took is measured; from these samples alone the
# simulator is to say how long the whole takes, also with numbers of workers that it was not fitted to.
#
# *Shapes reproduced under the assumptions in the code, and on the machine that ran it.*

# %%
from dataclasses import replace

import matplotlib.pyplot as plt
from real_run import real_run

from tfsvc_sim.research import run
from tfsvc_sim.research.calibration import distance, errors, fit

measured = {workers: real_run(workers) for workers in (1, 2, 4)}
model = fit(measured[1])

# %% [markdown]
# ## The error
#
# The model is fitted to the run with one worker, and asked for one, two and four.

# %%
rows = []
for workers, real in measured.items():
    simulated = run(replace(model, workers=workers))
    print(f"{workers} worker(s)")
    for error in errors(real, simulated):
        print("  ", error)
    rows.append((workers, real.epoch_s, simulated.epoch_s))

# %%
fig, axes = plt.subplots(1, 2, figsize=(9, 3))
axes[0].plot([w for w, _, _ in rows], [r for _, r, _ in rows], "o-", label="measured")
axes[0].plot([w for w, _, _ in rows], [s for _, _, s in rows], "s--", label="simulated")
axes[0].set_xlabel("workers")
axes[0].set_ylabel("time to epoch, s")
axes[0].legend()
for workers, real in measured.items():
    ordered = sorted(real.element_ms)
    axes[1].plot(ordered, [i / len(ordered) for i in range(len(ordered))], label=f"{workers} workers")
axes[1].set_xlabel("an element, ms")
axes[1].set_ylabel("share")
axes[1].legend()
plt.tight_layout()
plt.show()

# %% [markdown]
# ## What the model leaves out
#
# An element's time is a sleep, so workers do not stand in each other's way, and their times are much alike whatever their
# number: the distance of Kolmogorov and Smirnov between the samples is small, and grows with what else the machine does.
# What the trainer's own loop does between two steps is not in the model either, so it waits longer than foretold where
# workers are fast enough.

# %%
for workers in (2, 4):
    apart = distance(measured[1].element_ms, measured[workers].element_ms)
    print(f"elements of 1 and of {workers} workers: {apart:.3f} apart")

# Other work on the machine may disturb a real run; a model that is off by half tells nothing.
assert all(abs(simulated / real - 1) < 0.5 for _, real, simulated in rows)
