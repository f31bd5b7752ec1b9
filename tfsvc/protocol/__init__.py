"""The protocol: state machines that know no socket, clock, thread, disk or source of luck."""
