"""Every endpoint of the LangGraph door that takes a body, and bodies for each."""
