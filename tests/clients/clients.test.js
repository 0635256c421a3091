// Stock JavaScript clients against a server that is running at $URL.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "@langchain/langgraph-sdk";
import OpenAI from "openai";

const url = process.env.URL;
const langgraph = new Client({ apiUrl: url });
const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none" });

const ask = (text) => ({ messages: [{ role: "user", content: text }] });

async function collect(stream) {
  const events = [];
  for await (const event of stream) events.push(event);
  return events;
}

test("langgraph-sdk: a run on a thread answers and is remembered", async () => {
  const thread = await langgraph.threads.create();
  await langgraph.runs.wait(thread.thread_id, "agent", { input: ask("wait 0.1") });
  const values = await langgraph.runs.wait(thread.thread_id, "agent", { input: ask("hello") });
  assert.match(values.messages.at(-1).content, /asked me 2 things: "wait 0.1", "hello"/);
});

test("langgraph-sdk: a stream ends with the state of the thread", async () => {
  const thread = await langgraph.threads.create();
  const stream = langgraph.runs.stream(thread.thread_id, "agent", {
    input: ask("wait 0.1"),
    streamMode: ["values", "messages-tuple"],
  });
  const events = await collect(stream);
  assert.equal(events[0].event, "metadata");
  const last = events.filter((e) => e.event === "values").at(-1);
  const state = await langgraph.threads.getState(thread.thread_id);
  assert.deepEqual(state.values, last.data);
  assert.ok(events.some((e) => e.event === "messages"));
});

test("langgraph-sdk: a finished run can be read again by another reader", async () => {
  const thread = await langgraph.threads.create();
  const run = await langgraph.runs.create(thread.thread_id, "agent", { input: ask("wait 0.1") });
  await langgraph.runs.join(thread.thread_id, run.run_id);
  const stream = langgraph.runs.joinStream(thread.thread_id, run.run_id, { lastEventId: "-1" });
  const events = await collect(stream);
  assert.ok(events.length > 2);
  assert.equal((await langgraph.runs.get(thread.thread_id, run.run_id)).status, "success");
});

test("openai: a response is created, streamed and continued", async () => {
  const events = await collect(
    await openai.responses.create({ model: "agent", input: "wait 0.1", stream: true }),
  );
  assert.equal(events[0].type, "response.created");
  assert.equal(events.at(-1).type, "response.completed");
  assert.deepEqual(
    events.map((e) => e.sequence_number),
    events.map((_, index) => index),
  );
  const first = events.at(-1).response;
  const second = await openai.responses.create({
    model: "agent",
    input: "hello",
    previous_response_id: first.id,
  });
  assert.match(second.output_text, /"wait 0.1", "hello"/);
});

test("openai: the stream helper builds the same response that is stored", async () => {
  const stream = openai.responses.stream({ model: "agent", input: "wait 0.1" });
  const built = await stream.finalResponse();
  const stored = await openai.responses.retrieve(built.id);
  assert.equal(stored.status, "completed");
  assert.equal(stored.output_text, built.output_text);
});

test("openai: a background response is read from any event on", async () => {
  const queued = await openai.responses.create({
    model: "agent",
    input: "wait 0.2",
    background: true,
  });
  const all = await collect(await openai.responses.retrieve(queued.id, { stream: true }));
  const rest = await collect(
    await openai.responses.retrieve(queued.id, { stream: true, starting_after: 3 }),
  );
  assert.deepEqual(rest, all.slice(4));
});
