"""``python -m tfsvc``: the command line."""

from tfsvc.cli import main

main(prog_name="tfsvc")
