"""The service on engines that run processes on many machines: one module each, which needs that engine."""
