"""The dashboard: a cluster as a web page, live from its dispatcher or saved as one file."""
