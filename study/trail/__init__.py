"""The trail searched and verified: the chain of events against everything it vouches for."""
