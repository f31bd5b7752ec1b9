"""Running experiments: to their end, or to a moment at which a run forks."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tfsvc_sim.research.experiment import Experiment
from tfsvc_sim.research.lab import Lab
from tfsvc_sim.research.outcome import Outcome

Change = Callable[[Lab], None]
"""What is different in one branch from the fork on."""


def run(experiment: Experiment) -> Outcome:
    """Makes an experiment, and says how it went."""
    lab = Lab(experiment)
    lab.set_up()
    lab.run_to(experiment.until_s)
    return lab.meter.outcome()


def same(lab: Lab) -> None:
    """Changes nothing: the branch in which all went as it did."""


def fork(experiment: Experiment, at_s: float, branches: Mapping[str, Change]) -> dict[str, Outcome]:
    """What would have come of a run if something had been different from ``at_s`` on.

        fork(experiment, 30.0, {"as it was": same, "worker3 lives": lambda lab: lab.pardon("worker3")})

    A run is a function of its seed, so its past is made again for each branch; that it is the same past is checked.

    Raises:
      AssertionError: if it was not, since the simulator or a policy is not deterministic.
    """
    outcomes: dict[str, Outcome] = {}
    past = ""
    for name, change in branches.items():
        lab = Lab(experiment)
        lab.set_up()
        lab.run_to(at_s)
        digest = lab.trace.digest()
        assert past in ("", digest), f"branch {name!r} has another past: something in the run is not deterministic"
        past = digest
        change(lab)
        lab.run_to(experiment.until_s)
        outcomes[name] = lab.meter.outcome()
    return outcomes
