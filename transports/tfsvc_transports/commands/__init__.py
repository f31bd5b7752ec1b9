"""The commands of ``tfsvc`` that run servers and ask them: one file each."""
