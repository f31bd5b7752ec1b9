"""The page: one run, seen in a browser."""

from tfsvc_sim.page.perfetto import write_trace
from tfsvc_sim.page.recorded import recording_of
from tfsvc_sim.page.recording import Recording
from tfsvc_sim.page.simulated import Observation, record
from tfsvc_sim.page.writing import write

__all__ = ["Observation", "Recording", "record", "recording_of", "write", "write_trace"]
