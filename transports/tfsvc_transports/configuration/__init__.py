"""Configurations of the servers as operators write them: on the command line, in the environment, in a file."""
