"""The OpenAPI document: what each door says of its routes, put together. Pure.

The doors read their requests by hand, so nothing can be derived from signatures: each declares its
operations as data beside its routes, and tests hold that data against routes, reads and answers.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any

Schema = Mapping[str, Any]

ANY: Schema = {}
TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
OBJECT: Schema = {"type": "object"}
MOMENT: Schema = {"type": "string", "format": "date-time"}
UUID: Schema = {"type": "string", "format": "uuid"}
JSON = "application/json"
EVENTS = "text/event-stream"
EVENT: Schema = {
    "type": "object",
    "properties": {"event": TEXT, "data": TEXT, "id": TEXT},
    "required": ["data"],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One good answer: JSON of a ``schema``, server-sent events, text, one of these, or no body.

    ``headers`` are always there.
    """

    schema: Schema | None = None
    streams: bool = False
    plain: bool = False
    headers: Sequence[str] = ()

    @property
    def content(self) -> dict[str, Any]:
        """The body by its media type."""
        whole = {} if self.schema is None else {JSON: {"schema": self.schema}}
        plain = {"text/plain": {"schema": TEXT}} if self.plain else {}
        return whole | plain | ({EVENTS: {"itemSchema": ref("Event")}} if self.streams else {})


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path: what it reads and what it answers.

    ``needed`` are the query parameters that have to be there; a body has to be if ``needs_body``.
    ``refusals`` are statuses of errors, on top of those that the whole door may answer.
    """

    summary: str
    answers: Mapping[int, Answer]
    body: Schema | None = None
    needs_body: bool = True
    query: Mapping[str, Schema] = field(default_factory=dict)
    needed: Sequence[str] = ()
    headers: Sequence[str] = ()
    refusals: Sequence[int] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """``operations`` by method and path (``POST /threads``); ``schemas`` by name.

    ``refusal`` is the schema of every error; ``refusals`` are statuses that any operation may
    answer, ``body_refusals`` those of operations that read a body.
    """

    operations: Mapping[str, Operation]
    schemas: Mapping[str, Schema]
    refusal: Schema | None = None
    refusals: Sequence[int] = ()
    body_refusals: Sequence[int] = ()

    def under(self, prefix: str) -> Door:
        """The same door, mounted."""
        mounted = {name.replace(" ", f" {prefix}"): op for name, op in self.operations.items()}
        return replace(self, operations=mounted)

    def only(self, paths: Container[str]) -> Door:
        """The same door, parts of it shut."""
        open_here = {n: op for n, op in self.operations.items() if n.split(" ")[1] in paths}
        return replace(self, operations=open_here)


def document(title: str, version: str, doors: Sequence[Door]) -> dict[str, Any]:
    """The whole document, OpenAPI 3.1."""
    paths: dict[str, dict[str, Any]] = {}
    for door in doors:
        for name, operation in door.operations.items():
            method, path = name.split(" ")
            paths.setdefault(path, {})[method.lower()] = _operation(method, path, operation, door)
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "version": version},
        "paths": paths,
        "components": {
            "schemas": {"Event": EVENT, **{k: v for d in doors for k, v in d.schemas.items()}}
        },
    }


def ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def one_of(allowed: Sequence[str]) -> Schema:
    return {"type": "string", "enum": [str(value) for value in allowed]}


def listed(item: Schema) -> Schema:
    return {"type": "array", "items": item}


def number(low: float, high: float, kind: str = "integer") -> Schema:
    return {"type": kind, "minimum": low, "maximum": high}


def nullable(schema: Schema) -> Schema:
    """``schema`` or null."""
    if "type" not in schema:
        return {"anyOf": [schema, {"type": "null"}]} if schema else schema
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    values = {"enum": [*schema["enum"], None]} if "enum" in schema else {}
    return {**schema, "type": [*dict.fromkeys([*kinds, "null"])], **values}


def asked(needed: Sequence[str] = (), /, **properties: Schema) -> Schema:
    """An object that a client sends: null says nothing, unknown keys are ignored."""
    return {
        "type": "object",
        "properties": {k: v if k in needed else nullable(v) for k, v in properties.items()},
        **({"required": list(needed)} if needed else {}),
    }


def row(**properties: Schema) -> Schema:
    """An object that is answered, with every key and no other."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def part_of(whole: Schema) -> Schema:
    """What ``select`` leaves of a row."""
    return {key: value for key, value in whole.items() if key != "required"}


def _operation(method: str, path: str, operation: Operation, door: Door) -> dict[str, Any]:
    parts = [part for part in re.split(r"[/{}]+", path) if part]
    described: dict[str, Any] = {
        "operationId": "_".join([method.lower(), *parts]) if parts else f"{method.lower()}_root",
        "summary": operation.summary,
        "tags": [parts[0] if parts else "server"],
        "parameters": _parameters(path, operation),
        "responses": _answers(operation) | _refusals(operation, door),
    }
    if operation.body is not None:
        content = {JSON: {"schema": operation.body}}
        described["requestBody"] = {"required": operation.needs_body, "content": content}
    return described


def _parameters(path: str, operation: Operation) -> list[dict[str, Any]]:
    found = [_parameter(name, "path", TEXT, True) for name in re.findall(r"\{(\w+)\}", path)]
    for name, schema in operation.query.items():
        found.append(_parameter(name, "query", schema, name in operation.needed))
    return found + [_parameter(name, "header", TEXT, False) for name in operation.headers]


def _parameter(name: str, place: str, schema: Schema, needed: bool) -> dict[str, Any]:
    return {"name": name, "in": place, "required": needed, "schema": schema}


def _answers(operation: Operation) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for status, answer in operation.answers.items():
        about: dict[str, Any] = {"description": HTTPStatus(status).phrase}
        if answer.headers:
            about["headers"] = {n: {"required": True, "schema": TEXT} for n in answer.headers}
        if answer.content:
            about["content"] = answer.content
        found[str(status)] = about
    return found


def _refusals(operation: Operation, door: Door) -> dict[str, Any]:
    if door.refusal is None:
        return {}
    of_body = () if operation.body is None else door.body_refusals
    content = {JSON: {"schema": door.refusal}}
    return {
        str(status): {"description": HTTPStatus(status).phrase, "content": content}
        for status in sorted({*operation.refusals, *of_body, *door.refusals})
    }
