// Runs through the stock langgraph-sdk.
import assert from "node:assert/strict";
import { test } from "node:test";
import { client, collect, names, newThread, next, say, until } from "./server.js";

const SLOW = { delay: 0.3 };
const STEPS = ["1", "2", "3", "4", "5"];
const refused = (status) => (error) => error.status === status;
const status = async (thread, run) => (await client.runs.get(thread, run)).status;

/** A run that is at work, and its open stream. */
async function begun(graph, payload) {
  const thread = await newThread();
  let run;
  const onRunCreated = (created) => (run = created);
  const stream = client.runs.stream(thread, graph, { ...payload, onRunCreated });
  await next(stream, "metadata");
  return { thread, run: run.run_id, stream };
}

test("a run on a thread answers and is remembered", async () => {
  const thread = await newThread();
  await client.runs.wait(thread, "agent", { input: say("wait 0.1") });
  const values = await client.runs.wait(thread, "agent", { input: say("hello") });
  assert.match(values.messages.at(-1).content, /asked me 2 things: "wait 0.1", "hello"/);
});

test("a run in the background is joined, listed and deleted", async () => {
  const thread = await newThread();
  let told;
  const onRunCreated = (created) => (told = created);
  const run = await client.runs.create(thread, "slow", {
    input: {},
    metadata: { a: 1 },
    onRunCreated,
  });
  assert.deepEqual(told, { run_id: run.run_id, thread_id: thread });
  assert.deepEqual((await client.runs.join(thread, run.run_id)).steps, STEPS);
  const done = await client.runs.get(thread, run.run_id);
  assert.deepEqual([done.status, done.metadata.a], ["success", 1]);
  const second = await client.runs.create(thread, "slow", { input: {} });
  await client.runs.join(thread, second.run_id);
  const listed = await client.runs.list(thread);
  assert.deepEqual(
    listed.map((one) => one.run_id),
    [second.run_id, run.run_id],
  );
  const page = await client.runs.list(thread, { limit: 1, offset: 1, select: ["run_id"] });
  assert.deepEqual(page, [{ run_id: run.run_id }]);
  assert.deepEqual(await client.runs.list(thread, { status: "error" }), []);
  assert.equal(await client.runs.delete(thread, second.run_id), undefined);
  await assert.rejects(client.runs.get(thread, second.run_id), refused(404));
});

test("stateless runs are started in one go, waited for and counted to the end", async () => {
  assert.deepEqual((await client.runs.wait(null, "slow", { input: {} })).steps, STEPS);
  const batch = await client.runs.createBatch([
    { assistantId: "slow", input: { tag: "a" } },
    { assistantId: "slow", input: { tag: "b" } },
  ]);
  const last = async (run) => {
    const stream = client.runs.joinStream(null, run.run_id, { lastEventId: "-1" });
    return (await collect(stream)).filter((one) => one.event === "values").at(-1).data.tag;
  };
  assert.deepEqual(await Promise.all(batch.map(last)), ["a", "b"]);
});

test("a failure reaches whoever waits, and whoever streams", async () => {
  await assert.rejects(client.runs.wait(null, "boom", { input: {} }), /ValueError: boom/);
  const answer = await client.runs.wait(null, "boom", { input: {}, raiseError: false });
  assert.deepEqual(answer.__error__, { error: "ValueError", message: "boom" });
  const events = await collect(client.runs.stream(null, "boom", { input: {} }));
  assert.deepEqual(events.find((one) => one.event === "error").data, answer.__error__);
});

for (const [wait, action] of [
  [false, "interrupt"],
  [true, "interrupt"],
  [true, "rollback"],
]) {
  test(`a running run is cancelled: ${action}, ${wait ? "and waited for" : "at once"}`, async () => {
    const { thread, run, stream } = await begun("slow", { input: SLOW, streamMode: "updates" });
    await next(stream, "updates");
    await client.runs.cancel(thread, run, wait, action);
    const rest = await collect(stream);
    assert.equal(names(rest).at(-1), "end");
    if (action === "rollback") {
      await until(() => client.runs.get(thread, run).then(() => false, refused(404)), "it is gone");
      assert.deepEqual((await client.threads.getState(thread)).values, {});
    } else {
      await until(async () => (await status(thread, run)) === "interrupted", "it is interrupted");
    }
  });
}

test("many runs are cancelled in one call", async () => {
  const { thread, run, stream } = await begun("slow", { input: SLOW });
  const second = await client.runs.create(thread, "slow", { input: SLOW });
  const runIds = [run, second.run_id];
  assert.equal(await client.runs.cancelMany({ threadId: thread, runIds }), undefined);
  await collect(stream);
  assert.equal(await status(thread, second.run_id), "interrupted");
  assert.equal(await status(thread, run), "interrupted");
});

test("an interrupt is answered by a command", async () => {
  const thread = await newThread();
  const asked = await collect(client.runs.stream(thread, "chat", { input: say("ask me") }));
  const [question] = asked.filter((one) => one.event === "values").at(-1).data.__interrupt__;
  assert.deepEqual(question.value, { question: "me" });
  assert.equal((await client.threads.get(thread)).status, "interrupted");
  const command = { resume: { [question.id]: "yes" } };
  const answered = await collect(client.runs.stream(thread, "chat", { command }));
  assert.equal(answered.at(-2).data.messages.at(-1).content, "You said yes.");
  assert.equal((await client.threads.get(thread)).status, "idle");
});

test("a run stops at a breakpoint, and a command goes to a node with an update", async () => {
  const thread = await newThread();
  const input = { request: "r" };
  const stopped = await client.runs.wait(thread, "approval", { input, interruptBefore: ["ask"] });
  assert.deepEqual(stopped.log, ["prepared"]);
  await client.runs.wait(thread, "approval");
  await client.runs.wait(thread, "approval", { command: { resume: "yes" } });
  const command = { goto: "finish", update: { decision: "no" } };
  const done = await client.runs.wait(thread, "approval", { command });
  assert.deepEqual(
    [done.decision, done.log],
    ["no", ["prepared", "decided:yes", "finished", "finished"]],
  );
});

test("a busy thread queues, refuses, interrupts or rolls back", async () => {
  const { thread, run, stream } = await begun("slow", { input: { tag: "a", ...SLOW } });
  const submit = (multitaskStrategy) =>
    client.runs.create(thread, "slow", { input: { tag: "b", delay: 0 }, multitaskStrategy });
  await assert.rejects(submit("reject"), refused(409));
  const queued = await submit("enqueue");
  assert.equal(queued.status, "pending");
  const interrupting = await submit("interrupt");
  await client.runs.join(thread, interrupting.run_id);
  const statuses = await Promise.all(
    [run, queued.run_id, interrupting.run_id].map((id) => status(thread, id)),
  );
  assert.deepEqual(statuses, ["interrupted", "interrupted", "success"]);
  await collect(stream);

  const second = await begun("slow", { input: { tag: "a", ...SLOW } });
  const rolling = await client.runs.create(second.thread, "slow", {
    input: { tag: "b", delay: 0 },
    multitaskStrategy: "rollback",
  });
  const { steps } = await client.runs.join(second.thread, rolling.run_id);
  assert.deepEqual(
    steps,
    STEPS.map((step) => `b${step}`),
  );
  await assert.rejects(client.runs.get(second.thread, second.run), refused(404));
});

test("a run whose follower asked for it is cancelled when the follower leaves", async () => {
  const thread = await newThread();
  const run = await client.runs.create(thread, "chat", { input: say("count 300") });
  const stop = new AbortController();
  const stream = client.runs.joinStream(thread, run.run_id, {
    lastEventId: "-1",
    cancelOnDisconnect: true,
    signal: stop.signal,
  });
  await next(stream, "metadata");
  stop.abort();
  const gone = async () => (await status(thread, run.run_id)) === "interrupted";
  await until(gone, "the run is cancelled after the grace");
});

test("a run waits as many seconds as it is told, on a thread made for it", async () => {
  const thread = crypto.randomUUID();
  const input = {};
  await assert.rejects(client.runs.create(thread, "slow", { input }), refused(404));
  const began = Date.now();
  await client.runs.wait(thread, "slow", { input, ifNotExists: "create", afterSeconds: 1 });
  assert.ok(Date.now() - began >= 1000);
});
