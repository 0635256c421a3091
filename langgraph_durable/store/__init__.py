"""The only code that runs SQL for readers and clients; one module per noun."""
