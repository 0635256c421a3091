"""Everything HTTP: the wire languages in which clients talk to the durable engine."""
