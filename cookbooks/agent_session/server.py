"""After a crash the agent goes on from its last checkpoint, in the same conversation."""

from cookbooks.wait_agent.agent import graph
from langgraph_durable import DurableServer, RecoveryStrategy

app = DurableServer(graph, recovery=RecoveryStrategy.AGENT_SESSION).app
