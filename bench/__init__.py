"""What a client waits for, beside what bare LangGraph and bare PostgreSQL take for the same.

``python -m bench`` measures everything, ``python -m bench --quick`` a little of it. It knows the
server by its command line, its doors and its tables only.
"""
