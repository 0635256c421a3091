"""What the routes of the store read and answer."""

from __future__ import annotations

from protocol_adapter.langgraph.openapi.forms import NOTHING, SWITCH
from protocol_adapter.openapi import TEXT, Answer, Operation, listed, nullable, ref, row

STORE = {
    "PUT /store/items": Operation("Keep an item", NOTHING, ref("ItemPut")),
    "GET /store/items": Operation(
        "One item, or null; the labels of its namespace are joined by periods",
        {200: Answer(schema=nullable(ref("Item")))},
        query={"namespace": TEXT, "key": TEXT, "refresh_ttl": SWITCH},
        needed=("key",),
    ),
    "DELETE /store/items": Operation("Forget an item", NOTHING, ref("ItemDelete")),
    "POST /store/items/search": Operation(
        "Find items",
        {200: Answer(schema=row(items=listed(ref("FoundItem"))))},
        ref("ItemSearch"),
    ),
    "POST /store/namespaces": Operation(
        "The namespaces that hold items",
        {200: Answer(schema=row(namespaces=listed(listed(TEXT))))},
        ref("NamespaceList"),
    ),
}
