"""The LangGraph door: assistants, threads and runs as ``langgraph_sdk`` speaks them."""
