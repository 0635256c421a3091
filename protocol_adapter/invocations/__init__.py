"""The generic JSON protocol: one invocation of a graph, its events, its result.

``POST /invocations {id?, session_id?, graph?, input, background?, stream?}`` makes a run;
``GET /invocations/{id}`` tells how it stands, ``GET /invocations/{id}/events?after=N`` what has
happened behind event N. The client chooses the id: sent again with the same request it answers the
same invocation. A graph that asks a person ends its invocation with ``requires_action``; the answer
is another invocation of the same session, with ``{"resume": value}`` or ``{"decisions": [...]}``
as its input.
"""
