"""The simulated world: the machines of tfsvc on simulated time, network and disks.

A run is a function of its seed alone: on every machine, under every hash seed, on either engine.
"""
