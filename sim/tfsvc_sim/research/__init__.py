"""Research: policies and costs of a data service, tried out on the real machines in simulated time.

See docs/research.md.
"""

from tfsvc_sim.research.costs import Costs, Straggling
from tfsvc_sim.research.experiment import Buffers, Experiment, Lengths, Reading
from tfsvc_sim.research.lab import Lab
from tfsvc_sim.research.outcome import Outcome
from tfsvc_sim.research.policy import Policy
from tfsvc_sim.research.running import run
from tfsvc_sim.research.source import Source

__all__ = [
    "Buffers",
    "Costs",
    "Experiment",
    "Lab",
    "Lengths",
    "Outcome",
    "Policy",
    "Reading",
    "Source",
    "Straggling",
    "run",
]
