"""Chaos: a crowd of clients, faults at random, and the laws of durability checked afterwards."""
