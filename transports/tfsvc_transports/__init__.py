"""The real world: drivers, transports, pools and journals that run the machines of ``tfsvc.protocol``."""
