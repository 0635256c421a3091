"""Everything between "a part was emitted" and "a follower has it"."""
