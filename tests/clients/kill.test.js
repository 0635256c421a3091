// kill -9 in the middle of runs: stock clients come back, and find them as if nothing had happened.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, streamText } from "ai";
import OpenAI from "openai";
import { startServer } from "./own_server.js";
import { collect, until } from "./server.js";

const ANSWER = "remembered: use the tool";
const TOOL = { model: "agent", input: "use the tool" };
const SPEECH = { model: "speech", input: "tell" };
const TOOL_RUNS = 5;

const key = (name) => ({ "Idempotency-Key": name });
const types = (events) => events.map((one) => one.type);
const numbers = (events) => events.map((one) => one.sequence_number);
const count = (values, value) => values.filter((one) => one === value).length;
const lastNumber = (events) => events.at(-1).sequence_number;
const calls = (parts) => parts.filter((part) => part.type === "tool-call");

describe("a server that is killed in the middle of runs", () => {
  let server;
  let openai;
  let vercel;
  const seen = { raw: [], helper: [], speech: [], spoken: [], streamed: [] };
  let created;
  let generated;

  before(async () => {
    server = await startServer();
    const where = { baseURL: `${server.url}/v1`, apiKey: "none" };
    openai = new OpenAI({ ...where, maxRetries: 10 });
    vercel = createOpenAI(where).responses("agent");

    const background = { background: true, stream: true };
    created = openai.responses.create(TOOL, { headers: key("created") });
    generated = generateText({
      model: vercel,
      prompt: TOOL.input,
      headers: key("generated"),
      maxRetries: 5,
    });
    const reading = [
      readUntilCut(await openai.responses.create({ ...TOOL, ...background }), seen.raw),
      readUntilCut(openai.responses.stream({ ...TOOL, ...background }), seen.helper),
      readUntilCut(await openai.responses.create({ ...SPEECH, ...background }), seen.speech),
      readUntilCut(openai.responses.stream({ ...SPEECH, ...background }), seen.spoken),
      readUntilCut(streamed(), seen.streamed),
    ];
    await until(async () => (await server.executions("work")) === TOOL_RUNS, "all run the tool");
    await until(() => seen.speech.some(isSecondWord) && seen.spoken.some(isSecondWord), "speech");
    await until(() => [seen.raw, seen.helper].every(showsCall), "both show the call");
    await server.kill();
    await Promise.all(reading);
    await server.open("work", "speak");
    await server.start();
  });

  after(() => server.stop());

  const streamed = () =>
    streamText({
      model: vercel,
      prompt: TOOL.input,
      headers: key("streamed"),
      onError: () => {},
    }).fullStream;

  async function whole(events) {
    const id = events[0].response.id;
    return await collect(await openai.responses.retrieve(id, { stream: true }));
  }

  async function added(events) {
    const all = await whole(events);
    return all.filter((one) => one.type === "response.output_item.added").map((one) => one.item);
  }

  for (const name of ["raw", "speech"]) {
    test(`openai reads on behind its cursor, nothing missing, nothing twice: ${name}`, async () => {
      const rest = await openai.responses.retrieve(seen[name][0].response.id, {
        stream: true,
        starting_after: lastNumber(seen[name]),
      });
      const events = [...seen[name], ...(await collect(rest))];
      assert.deepEqual(events, await whole(events));
      assert.deepEqual(numbers(events), [...events.keys()]);
      for (const once of ["created", "resumed", "completed"]) {
        assert.equal(count(types(events), `response.${once}`), 1);
      }
      assert.equal(types(events).at(-1), "response.completed");
      const { id, output } = events.at(-1).response;
      assert.deepEqual((await openai.responses.retrieve(id)).output, output);
    });
  }

  test("a tool call is shown once, with its result", async () => {
    assert.deepEqual(types(await added(seen.raw)), ["mcp_call", "message"]);
    const events = await whole(seen.raw);
    const [call, message] = events.at(-1).response.output;
    assert.deepEqual([call.name, call.status, call.output], ["work", "completed", "worked"]);
    assert.equal(message.content[0].text, ANSWER);
  });

  test("a message that was cut off is closed, and said again as another item", async () => {
    const events = await whole(seen.speech);
    const done = events.filter((one) => one.type === "response.output_item.done");
    assert.deepEqual(
      done.map(({ item }) => [item.status, item.content[0].text]),
      [
        ["incomplete", "Once upon "],
        ["completed", "Once upon a time"],
      ],
    );
    assert.deepEqual(events.at(-1).response.output, [done[1].item]);
  });

  test("a message that was cut off may be named later, and counts for nothing", async () => {
    const [cutOff, said] = (await added(seen.speech)).map(({ id }) => id);
    assert.notEqual(cutOff, said);
    const named = [cutOff, said].map((id) => ({ type: "item_reference", id }));
    const input = [...named, { role: "user", content: "again" }];
    const { id } = await openai.responses.create({ model: "speech", input });
    const { data } = await openai.responses.inputItems.list(id, { order: "asc" });
    assert.deepEqual(
      data.map((item) => item.content[0].text),
      ["Once upon a time", "again"],
    );
  });

  for (const name of ["helper", "spoken"]) {
    test(`the stream helper of openai reads on behind its cursor: ${name}`, async () => {
      const after = lastNumber(seen[name]);
      const stream = openai.responses.stream({
        response_id: seen[name][0].response.id,
        starting_after: after,
      });
      const events = [...seen[name], ...(await collect(stream))];
      const known = (await whole(events)).filter((one) => one.type !== "response.resumed");
      assert.deepEqual(numbers(events), numbers(known));
      assert.deepEqual(types(events), types(known));
      const stored = await openai.responses.retrieve(events[0].response.id);
      const built = await stream.finalResponse();
      assert.deepEqual([built.status, built.output_text], ["completed", stored.output_text]);
    });
  }

  test("openai's retry of a request with a key gets the response of its first try", async () => {
    const response = await created;
    const again = await openai.responses.create(TOOL, { headers: key("created") });
    assert.deepEqual([response.id, response.output_text], [again.id, ANSWER]);
  });

  test("generateText's retry of a request with a key gets the response of its first try", async () => {
    const { text, content, finishReason, response } = await generated;
    assert.deepEqual([text, finishReason], [ANSWER, "stop"]);
    assert.equal(calls(content).length, 1);
    const stored = await openai.responses.retrieve(response.id);
    assert.equal(stored.metadata.attempt, "2");
  });

  test("streamText called again with the same key tells the same response", async () => {
    const parts = await collect(streamed());
    assert.deepEqual(calls([...seen.streamed, ...parts]).length, 1);
    const kinds = types(parts);
    assert.deepEqual([count(kinds, "tool-result"), count(kinds, "error")], [1, 0]);
    assert.equal(textOf(parts), ANSWER);
  });

  test("no run was made twice: every tool ended once", async () => {
    await Promise.all([created, generated]);
    await whole(seen.helper);
    assert.equal(await server.executions("work finished"), TOOL_RUNS);
  });
});

/** Reads until the connection breaks, which a client reports as such. */
async function readUntilCut(stream, events) {
  await assert.rejects(async () => {
    for await (const event of stream) events.push(event);
  }, /terminated|[Cc]onnection|Failed to process/);
}

const isSecondWord = (event) => event.delta === "upon ";
const showsCall = (events) => types(events).includes("response.mcp_call_arguments.done");
const textOf = (parts) =>
  parts
    .filter((part) => part.type === "text-delta")
    .map((part) => part.text)
    .join("");
