"""Running datasets where they were not made."""
