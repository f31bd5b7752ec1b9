"""What a node tells people and their tools by HTTP: metrics, health, and the dashboard of a dispatcher."""
