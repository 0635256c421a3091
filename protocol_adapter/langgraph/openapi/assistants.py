"""What the routes of assistants read and answer."""

from __future__ import annotations

from protocol_adapter.langgraph.openapi.forms import NOTHING, PAGED, SWITCH, TOTAL, many, one
from protocol_adapter.openapi import Answer, Operation, Schema, number, ref

BY_SUBGRAPH: Schema = {"type": "object", "additionalProperties": ref("Schemas")}

ASSISTANTS = {
    "POST /assistants": Operation(
        "Make an assistant", one("Assistant"), ref("AssistantCreate"), refusals=(404, 409)
    ),
    "POST /assistants/search": Operation(
        "Find assistants",
        many("SelectedAssistant", PAGED),
        ref("AssistantSearch"),
    ),
    "POST /assistants/count": Operation("Count assistants", TOTAL, ref("AssistantCount")),
    "GET /assistants/{assistant_id}": Operation(
        "One assistant, by its id or its graph's name", one("Assistant"), refusals=(404,)
    ),
    "PATCH /assistants/{assistant_id}": Operation(
        "Make a new version of an assistant",
        one("Assistant"),
        ref("AssistantUpdate"),
        refusals=(404,),
    ),
    "DELETE /assistants/{assistant_id}": Operation(
        "Delete an assistant",
        NOTHING,
        query={"delete_threads": SWITCH},
        refusals=(404, 409),
    ),
    "POST /assistants/{assistant_id}/versions": Operation(
        "The versions of an assistant, the latest first",
        many("AssistantVersion"),
        ref("AssistantVersions"),
        refusals=(404,),
    ),
    "POST /assistants/{assistant_id}/latest": Operation(
        "Go back to a version", one("Assistant"), ref("AssistantLatest"), refusals=(404,)
    ),
    "GET /assistants/{assistant_id}/schemas": Operation(
        "The schemas of its graph", one("GraphSchemas"), refusals=(400, 404)
    ),
    "GET /assistants/{assistant_id}/graph": Operation(
        "Its graph as nodes and edges",
        one("Graph"),
        query={"xray": {"anyOf": [SWITCH, number(0, 10**18 - 1)]}},
        refusals=(400, 404),
    ),
    "GET /assistants/{assistant_id}/subgraphs": Operation(
        "The schemas of its subgraphs, by namespace",
        {200: Answer(schema=BY_SUBGRAPH)},
        query={"recurse": SWITCH},
        refusals=(400, 404),
    ),
    "GET /assistants/{assistant_id}/subgraphs/{namespace}": Operation(
        "The schemas of one subgraph",
        {200: Answer(schema=BY_SUBGRAPH)},
        query={"recurse": SWITCH},
        refusals=(400, 404),
    ),
}
