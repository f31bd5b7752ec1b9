"""What must be true of a run: the ledger, the oracles over it, and the verdict."""
