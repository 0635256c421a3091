"""What the measured servers serve."""
