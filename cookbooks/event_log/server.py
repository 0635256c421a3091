"""After a crash the agent starts anew and is told what it had done, in a rotated conversation."""

from cookbooks.wait_agent.agent import graph
from langgraph_durable import DurableServer, RecoveryStrategy

app = DurableServer(graph, recovery=RecoveryStrategy.EVENT_LOG).app
