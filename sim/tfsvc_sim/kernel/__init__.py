"""What a world is made of: simulated time, clocks, networks, disks, and the trace of what happens."""
