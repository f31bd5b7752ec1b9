"""What a node measures of itself: metrics as Prometheus reads them, and spans for OpenTelemetry."""
