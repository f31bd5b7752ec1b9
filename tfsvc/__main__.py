"""``python -m tfsvc``: the command line."""

from tfsvc.cli import main

main()
