// Threads through the stock langgraph-sdk.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { client, collect, names, newThread, say } from "./server.js";

const refused = (status) => (error) => error.status === status;

async function approvalThread(metadata = {}) {
  const { thread_id: id } = await client.threads.create({ metadata, graphId: "approval" });
  await client.runs.wait(id, "approval", { input: { request: "r" } });
  return id;
}

test("a thread is made, found, changed, counted and deleted", async () => {
  const mark = randomUUID();
  const made = await client.threads.create({ metadata: { mark }, graphId: "slow", ttl: 60 });
  const threadId = made.thread_id;
  assert.equal(made.metadata.graph_id, "slow");
  await assert.rejects(client.threads.create({ threadId }), refused(409));
  const same = await client.threads.create({ threadId, ifExists: "do_nothing" });
  assert.equal(same.created_at, made.created_at);
  const changed = await client.threads.update(threadId, { metadata: { more: true } });
  assert.deepEqual(changed.metadata, { mark, graph_id: "slow", more: true });
  const silent = { metadata: { more: false }, returnMinimal: true };
  assert.equal(await client.threads.update(threadId, silent), undefined);
  const read = await client.threads.get(threadId, { include: ["ttl"] });
  assert.deepEqual([read.metadata.more, read.ttl.strategy], [false, "delete"]);
  assert.equal(await client.threads.count({ metadata: { mark } }), 1);
  assert.equal(await client.threads.delete(threadId), undefined);
  await assert.rejects(client.threads.get(threadId), refused(404));
});

test("threads are searched by metadata, status, values and ids", async () => {
  const mark = randomUUID();
  const asking = await approvalThread({ mark });
  const { thread_id: idle } = await client.threads.create({ metadata: { mark } });
  const found = async (query) => (await client.threads.search(query)).map((one) => one.thread_id);
  const byAge = { sortBy: "created_at", sortOrder: "asc" };
  assert.deepEqual(await found({ metadata: { mark }, ...byAge }), [asking, idle]);
  assert.deepEqual(await found({ metadata: { mark }, status: "interrupted" }), [asking]);
  assert.deepEqual(await found({ metadata: { mark }, values: { request: "r" } }), [asking]);
  assert.deepEqual(await found({ ids: [idle] }), [idle]);
  assert.deepEqual(await found({ metadata: { mark }, ...byAge, limit: 1, offset: 1 }), [idle]);
  const [only] = await client.threads.search({
    ids: [asking],
    select: ["thread_id"],
    extract: { request: "values.request" },
  });
  assert.deepEqual(only, { thread_id: asking, extracted: { request: "r" } });
});

test("a new thread has an empty state and no history", async () => {
  const id = await newThread();
  const state = await client.threads.getState(id);
  assert.deepEqual([state.values, state.next, state.checkpoint], [{}, [], null]);
  assert.deepEqual(await client.threads.getHistory(id), []);
});

test("state is read at any checkpoint, changed and forked", async () => {
  const id = await approvalThread();
  const head = await client.threads.getState(id);
  assert.deepEqual([head.next, head.values.log], [["ask"], ["prepared"]]);
  const history = await client.threads.getHistory(id, { limit: 10 });
  assert.deepEqual(history[0].checkpoint, head.checkpoint);
  const [, second] = history;
  const { checkpoint_id } = second.checkpoint;
  assert.deepEqual((await client.threads.getState(id, checkpoint_id)).values, second.values);
  assert.deepEqual((await client.threads.getState(id, second.checkpoint)).values, second.values);
  const before = await client.threads.getHistory(id, {
    before: { configurable: { checkpoint_id } },
  });
  assert.deepEqual(before, history.slice(2));
  await client.threads.updateState(id, { values: { decision: "mine" }, asNode: "ask" });
  const changed = await client.threads.getState(id);
  assert.deepEqual([changed.next, changed.values.decision], [["finish"], "mine"]);
  const { log } = await client.runs.wait(id, "approval", {
    checkpoint: head.checkpoint,
    command: { resume: "yes" },
  });
  assert.deepEqual(log, ["prepared", "decided:yes", "finished"]);
});

test("the state of a subgraph is read in its namespace", async () => {
  const id = await newThread();
  await client.runs.wait(id, "nested", { input: say("ask me") });
  const state = await client.threads.getState(id, undefined, { subgraphs: true });
  const [task] = state.tasks;
  assert.deepEqual([task.name, task.state.next], ["chat", ["ask"]]);
  assert.deepEqual(task.interrupts[0].value, { question: "me" });
  const checkpoint = { checkpoint_ns: task.state.checkpoint.checkpoint_ns };
  const [head] = await client.threads.getHistory(id, { checkpoint });
  assert.deepEqual([head.next, head.checkpoint], [["ask"], task.state.checkpoint]);
});

test("a copy goes its own way, and old checkpoints are pruned", async () => {
  const id = await approvalThread();
  const copy = (await client.threads.copy(id)).thread_id;
  assert.notEqual(copy, id);
  await client.runs.wait(copy, "approval", { command: { resume: "no" } });
  assert.deepEqual((await client.threads.getState(id)).next, ["ask"]);
  const strategy = "keep_latest";
  assert.deepEqual(await client.threads.prune([copy], { strategy }), { pruned_count: 1 });
  assert.equal((await client.threads.getHistory(copy)).length, 1);
  assert.deepEqual(await client.threads.prune([copy]), { pruned_count: 1 });
  await assert.rejects(client.threads.get(copy), refused(404));
});

test("a thread is made from supersteps", async () => {
  const { thread_id: id } = await client.threads.create({
    graphId: "approval",
    supersteps: [
      { updates: [{ values: { request: "old" }, asNode: "__start__" }] },
      { updates: [{ values: { log: ["made"] }, asNode: "prepare" }] },
    ],
  });
  const state = await client.threads.getState(id);
  assert.deepEqual([state.next, state.values], [["ask"], { request: "old", log: ["made"] }]);
});

test("a thread's own stream shows all of its runs and is read again from any place", async () => {
  const id = await approvalThread();
  await client.runs.wait(id, "approval", { command: { resume: "yes" } });
  const read = async (lastEventId, runs) => {
    const stop = new AbortController();
    const events = [];
    const stream = client.threads.joinStream(id, { lastEventId, signal: stop.signal });
    for await (const event of stream) {
      events.push(event);
      runs -= event.data?.status === "run_done" ? 1 : 0;
      if (!runs) break;
    }
    stop.abort();
    return events;
  };
  const whole = await read("-", 2);
  const done = names(whole).lastIndexOf("metadata", -2);
  assert.equal(whole.filter((one) => one.data.status === "run_done").length, 2);
  assert.deepEqual(await read(whole[done].id, 1), whole.slice(done + 1));
  const modes = { lastEventId: "-", streamMode: ["lifecycle"] };
  const stop = new AbortController();
  const lifecycle = client.threads.joinStream(id, { ...modes, signal: stop.signal });
  const { value } = await lifecycle.next();
  assert.equal(value.event, "metadata");
  stop.abort();
  await collect(lifecycle).catch((error) => assert.equal(error.name, "AbortError"));
});
