// The stock openai client.
import assert from "node:assert/strict";
import { test } from "node:test";
import OpenAI from "openai";
import { collect, url } from "./server.js";

const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none" });

test("a response is created, streamed and continued", async () => {
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

test("the stream helper builds the same response that is stored", async () => {
  const stream = openai.responses.stream({ model: "agent", input: "wait 0.1" });
  const built = await stream.finalResponse();
  const stored = await openai.responses.retrieve(built.id);
  assert.equal(stored.status, "completed");
  assert.equal(stored.output_text, built.output_text);
});

test("a background response is read from any event on", async () => {
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
