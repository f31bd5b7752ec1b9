"""The cluster server: masters that run steps, workers that run pieces of them, sessions that ask for steps."""
