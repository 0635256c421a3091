// Assistants, crons and the store through the stock langgraph-sdk.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { client, newThread } from "./server.js";

const refused = (status) => (error) => error.status === status;

describe("assistants", () => {
  test("every graph has one that cannot be deleted", async () => {
    const system = await client.assistants.search({ metadata: { created_by: "system" } });
    const own = system.find((one) => one.graph_id === "chat");
    assert.equal(own.name, "chat");
    await assert.rejects(client.assistants.delete(own.assistant_id), refused(409));
  });

  test("one is made, changed, put back and deleted", async () => {
    const name = `mine ${randomUUID()}`;
    const made = await client.assistants.create({ graphId: "slow", name, metadata: { a: 1 } });
    const id = made.assistant_id;
    const again = await client.assistants.create({
      graphId: "slow",
      assistantId: id,
      ifExists: "do_nothing",
    });
    assert.deepEqual(again, made);
    await assert.rejects(
      client.assistants.create({ graphId: "slow", assistantId: id }),
      refused(409),
    );
    const changed = await client.assistants.update(id, {
      context: { user: "me" },
      metadata: { b: 2 },
      description: "second",
    });
    assert.deepEqual([changed.version, changed.metadata.a, changed.metadata.b], [2, 1, 2]);
    const versions = await client.assistants.getVersions(id);
    assert.deepEqual(
      versions.map((one) => one.version),
      [2, 1],
    );
    const back = await client.assistants.setLatest(id, 1);
    assert.deepEqual([back.version, back.context], [1, {}]);
    assert.deepEqual(await client.assistants.get(id), back);
    assert.equal(await client.assistants.count({ name }), 1);
    assert.equal(await client.assistants.delete(id), undefined);
    await assert.rejects(client.assistants.get(id), refused(404));
  });

  test("a search tells where its next page begins", async () => {
    const mark = randomUUID();
    for (const name of ["a", "b", "c"]) {
      await client.assistants.create({ graphId: "slow", name, metadata: { mark } });
    }
    const query = { metadata: { mark }, sortBy: "name", sortOrder: "asc", includePagination: true };
    const first = await client.assistants.search({ ...query, limit: 2 });
    const rest = await client.assistants.search({ ...query, limit: 2, offset: Number(first.next) });
    const found = [...first.assistants, ...rest.assistants].map((one) => one.name);
    assert.deepEqual([found, first.next, rest.next], [["a", "b", "c"], "2", null]);
    const [only] = await client.assistants.search({ metadata: { mark }, select: ["name"] });
    assert.deepEqual(Object.keys(only), ["name"]);
  });

  test("a graph is drawn, with its subgraphs and schemas", async () => {
    const nodes = async (xray) =>
      (await client.assistants.getGraph("subgraph", { xray })).nodes.map((one) => one.id);
    assert.deepEqual(await nodes(false), ["__start__", "p1", "child", "p2", "__end__"]);
    assert.ok((await nodes(true)).includes("child:c1"));
    const subgraphs = await client.assistants.getSubgraphs("subgraph", { recurse: true });
    assert.deepEqual(Object.keys(subgraphs), ["child"]);
    const named = await client.assistants.getSubgraphs("subgraph", { namespace: "child" });
    assert.deepEqual(named, subgraphs);
    const schemas = await client.assistants.getSchemas("subgraph");
    assert.deepEqual(schemas.state_schema.properties.x.type, "integer");
  });
});

describe("crons", () => {
  const monthly = { schedule: "0 0 1 * *", timezone: "Europe/Vienna", input: { tag: "c" } };

  test("one is made, found, changed and deleted", async () => {
    const mark = randomUUID();
    const metadata = { mark };
    const made = await client.crons.create("slow", { ...monthly, metadata, enabled: false });
    assert.deepEqual([made.enabled, made.payload.input], [false, { tag: "c" }]);
    const endTime = "2100-01-01T00:00:00Z";
    const changed = await client.crons.update(made.cron_id, { enabled: true, endTime });
    assert.equal(new Date(changed.end_time).getTime(), new Date(endTime).getTime());
    const unbounded = await client.crons.update(made.cron_id, { endTime: null });
    assert.equal(unbounded.end_time, null);
    assert.ok(new Date(unbounded.next_run_date) > new Date());
    const found = await client.crons.search({ metadata });
    assert.deepEqual(found, [unbounded]);
    assert.equal(await client.crons.count({ metadata }), 1);
    assert.equal(await client.crons.delete(made.cron_id), undefined);
    assert.deepEqual(await client.crons.search({ metadata }), []);
  });

  test("one belongs to a thread", async () => {
    const threadId = await newThread();
    const made = await client.crons.createForThread(threadId, "slow", monthly);
    assert.equal(made.thread_id, threadId);
    assert.deepEqual(await client.crons.search({ threadId }), [made]);
    await client.crons.delete(made.cron_id);
  });
});

describe("the store", () => {
  test("an item is put, read, found and deleted", async () => {
    const namespace = ["js", randomUUID()];
    assert.equal(await client.store.getItem(namespace, "k"), null);
    assert.equal(await client.store.putItem(namespace, "k", { v: 1 }), undefined);
    await client.store.putItem([...namespace, "deep"], "k2", { v: 2 });
    const item = await client.store.getItem(namespace, "k");
    assert.deepEqual([item.namespace, item.key, item.value], [namespace, "k", { v: 1 }]);
    assert.ok(new Date(item.createdAt) <= new Date(item.updatedAt));
    const { items } = await client.store.searchItems(namespace, { filter: { v: 2 } });
    assert.deepEqual(
      items.map((one) => one.key),
      ["k2"],
    );
    const { namespaces } = await client.store.listNamespaces({ prefix: namespace });
    assert.deepEqual(namespaces, [namespace, [...namespace, "deep"]]);
    await client.store.deleteItem(namespace, "k");
    assert.equal(await client.store.getItem(namespace, "k"), null);
  });
});
