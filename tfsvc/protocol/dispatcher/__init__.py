"""The dispatcher: who is registered, what is being read, who reads it, and what was handed out.

Laws of this package
1. Only ``DispatcherState.apply(update)`` changes what a restart must remember.
2. A handler reads the state, records updates and says words through its ``Turn``.
3. Nothing here knows who called: the same code serves a simulation and gRPC.
"""
