"""Outside of the simulated world: the command line, other processes, and who watches that nothing ambient comes in."""
