"""Remote calls in simulation: a server that crashes, clients that repeat their calls, and who ran what how often.

``executor`` runs functions in simulated time and keeps a ledger; ``world`` is a server and its clients; ``swarm`` draws
scenarios from seeds; ``verdict`` judges what became of every call.
"""
