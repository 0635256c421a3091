// The stock openai client: how a response is made, read, cancelled and deleted.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import OpenAI from "openai";
import { collect, url } from "./server.js";

const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none" });
const say = (input, more) => openai.responses.create({ model: "talk", input, ...more });

const types = (events) => events.map((one) => one.type);
const assertNumbered = (events, from = 0) =>
  assert.deepEqual(
    events.map((one) => one.sequence_number),
    events.map((_, index) => from + index),
  );

/** The response once it has ended. */
async function ended({ id }) {
  await collect(await openai.responses.retrieve(id, { stream: true }));
  return await openai.responses.retrieve(id);
}

describe("a response", () => {
  test("is made in one go", async () => {
    const response = await say("hi");
    assert.deepEqual([response.status, response.output_text], ["completed", "You said: hi "]);
    assert.equal(response.usage.total_tokens, 5);
    assert.deepEqual(await openai.responses.retrieve(response.id), response);
  });

  test("is streamed", async () => {
    const events = await collect(await say("hi", { stream: true }));
    assertNumbered(events);
    assert.deepEqual(types(events).slice(0, 2), ["response.created", "response.in_progress"]);
    assert.equal(events.at(-1).type, "response.completed");
    const deltas = events.filter((one) => one.type === "response.output_text.delta");
    assert.ok(deltas.length > 1);
    const [message] = events.at(-1).response.output;
    assert.equal(deltas.map((one) => one.delta).join(""), message.content[0].text);
  });

  test("is made in the background", async () => {
    const queued = await say("hi", { background: true });
    assert.match(queued.status, /queued|in_progress/);
    const response = await ended(queued);
    assert.deepEqual([response.status, response.output_text], ["completed", "You said: hi "]);
  });

  test("is streamed from the background", async () => {
    const events = await collect(await say("hi", { background: true, stream: true }));
    assertNumbered(events);
    assert.deepEqual(types(events).slice(0, 3), [
      "response.created",
      "response.queued",
      "response.in_progress",
    ]);
    assert.equal(events[0].response.status, "queued");
    assert.equal(events.at(-1).response.status, "completed");
  });

  test("shows the tools that the server ran, and asks the client for none", async () => {
    const events = await collect(
      await openai.responses.create({ model: "agent", input: "wait 0.1", stream: true }),
    );
    const added = events.filter((one) => one.type === "response.output_item.added");
    assert.deepEqual(types(added.map((one) => one.item)), ["mcp_call", "message"]);
    const [call] = events.at(-1).response.output;
    assert.deepEqual([call.name, call.output], ["wait", "waited 0.1 seconds"]);
    assert.equal(call.error, null);
  });

  test("tells thoughts, sources and refusals as the client knows them", async () => {
    const [thought] = (await say("think")).output;
    assert.deepEqual(thought.summary, [{ type: "summary_text", text: "I think so " }]);
    const [source] = (await say("cite")).output[0].content[0].annotations;
    assert.deepEqual([source.type, source.url], ["url_citation", "https://a.test/"]);
    const [part] = (await say("refuse")).output[0].content;
    assert.deepEqual(part, { type: "refusal", refusal: "I would rather not" });
  });

  test("that ran into a limit is incomplete, one that failed says why", async () => {
    const endless = await say("loop");
    assert.deepEqual(
      [endless.status, endless.incomplete_details.reason],
      ["incomplete", "recursion_limit"],
    );
    const failed = await say("fail");
    assert.deepEqual(
      [failed.status, failed.error.code, failed.error.message],
      ["failed", "server_error", "boom"],
    );
    const events = await collect(await say("fail", { stream: true }));
    assert.equal(events.at(-1).type, "response.failed");
  });

  test("of a graph without messages is its answer", async () => {
    const response = await openai.responses.create({ model: "verse", input: "night" });
    assert.equal(response.output_text, "O night!");
  });

  test("keeps to a schema, which the client reads", async () => {
    const schema = { type: "object", properties: { city: { type: "string" } } };
    const format = { type: "json_schema", name: "weather", schema, strict: true };
    const asked = { model: "talk", input: "weather", text: { format } };
    const response = await openai.responses.parse(asked);
    assert.deepEqual(response.output_parsed, { city: "Graz", degrees: 21 });
  });
});

describe("the stream helper", () => {
  for (const input of ["hi", "add", "think", "cite", "refuse", "pay", "loop", "fail"]) {
    test(`builds the response that is stored: ${input}`, async () => {
      const built = await openai.responses.stream({ model: "talk", input }).finalResponse();
      const stored = await openai.responses.retrieve(built.id);
      assert.equal(built.status, stored.status);
      assert.equal(built.output_text, stored.output_text);
      assert.deepEqual(
        built.output.map(({ id, type }) => [id, type]),
        stored.output.map(({ id, type }) => [id, type]),
      );
    });
  }

  test("rebuilds a response of which only the rest is asked for", async () => {
    const response = await ended(await say("hi there", { background: true }));
    const stream = openai.responses.stream({ response_id: response.id, starting_after: 3 });
    const events = await collect(stream);
    assertNumbered(events, 4);
    assert.equal((await stream.finalResponse()).output_text, response.output_text);
  });
});

describe("a background response is read", () => {
  test("from any event on, after its end", async () => {
    const live = await collect(await say("add", { background: true, stream: true }));
    const { id } = live[0].response;
    assert.deepEqual(await collect(await openai.responses.retrieve(id, { stream: true })), live);
    for (const cursor of [0, 3, live.length - 2, live.length - 1, 999]) {
      const query = { stream: true, starting_after: cursor };
      const rest = await collect(await openai.responses.retrieve(id, query));
      assert.deepEqual(rest, live.slice(cursor + 1));
    }
  });

  test("on by a second reader while it runs", async () => {
    const first = await say("slow", { background: true, stream: true });
    const reading = first[Symbol.asyncIterator]();
    const { value: created } = await reading.next();
    const { id } = created.response;
    const query = { stream: true, starting_after: created.sequence_number };
    const second = (await openai.responses.retrieve(id, query))[Symbol.asyncIterator]();
    for (let number = 0; number < 10; number += 1) {
      assert.deepEqual((await second.next()).value, (await reading.next()).value);
    }
    first.controller.abort();
    await openai.responses.cancel(id);
    const last = (await collect({ [Symbol.asyncIterator]: () => second })).at(-1);
    assert.deepEqual([last.type, last.response.status], ["response.incomplete", "cancelled"]);
  });
});

describe("a response is cancelled", () => {
  test("once and for all", async () => {
    const running = await say("slow", { background: true });
    const first = await openai.responses.cancel(running.id);
    assert.equal(first.status, "cancelled");
    assert.deepEqual(await openai.responses.cancel(running.id), first);
    const { output_text, ...stored } = await openai.responses.retrieve(running.id);
    assert.deepEqual(stored, first);
    assert.match(output_text, /^(one )*$/); // as far as it had come
    const built = await openai.responses.stream({ response_id: running.id }).finalResponse();
    assert.equal(built.status, "cancelled");
  });

  test("unless it cannot be", async () => {
    const foreground = await say("hi");
    await assert.rejects(openai.responses.cancel(foreground.id), {
      status: 400,
      message: /Cannot cancel a synchronous response/,
    });
    const done = await ended(await say("hi", { background: true }));
    await assert.rejects(openai.responses.cancel(done.id), {
      status: 400,
      message: /Cannot cancel a completed response/,
    });
  });
});

test("a deleted response is gone", async () => {
  const response = await say("hi");
  await openai.responses.delete(response.id);
  const gone = { status: 404, code: "response_not_found", type: "invalid_request_error" };
  await assert.rejects(openai.responses.retrieve(response.id), gone);
  await assert.rejects(openai.responses.inputItems.list(response.id), gone);
});

test("the input of a response is listed, page by page", async () => {
  const input = ["one", "two", "three"].map((content) => ({ role: "user", content }));
  const { id } = await say(input);
  const texts = [];
  for await (const item of openai.responses.inputItems.list(id, { order: "asc", limit: 2 })) {
    texts.push(item.content[0].text);
  }
  assert.deepEqual(texts, ["one", "two", "three"]);
});

test("the models are the graphs", async () => {
  const { data } = await openai.models.list();
  assert.ok(data.some((model) => model.id === "talk"));
  assert.equal((await openai.models.retrieve("talk")).object, "model");
  const unknown = { status: 404, code: "model_not_found", param: "model" };
  await assert.rejects(openai.models.retrieve("gpt-5"), unknown);
});

describe("a refusal has a status, a code and the name of what is wrong", () => {
  const invalid = "invalid_request_error";
  const cases = [
    [{ model: "gpt-5" }, { status: 400, code: "model_not_found", param: "model" }],
    [{ input: 7 }, { status: 400, code: "invalid_type", param: "input" }],
    [{ input: undefined }, { code: "missing_required_parameter", param: "input" }],
    [{ background: true, store: false }, { status: 400, param: "store" }],
    [{ tools: [{ type: "function" }] }, { status: 400, param: "tools[0].name" }],
    [{ metadata: { n: 1 } }, { status: 400, param: "metadata.n" }],
    [
      { previous_response_id: "resp_1" },
      { status: 404, code: "previous_response_not_found", param: "previous_response_id" },
    ],
    [
      { previous_response_id: "resp_1", conversation: "c" },
      { status: 400, code: "mutually_exclusive_parameters", param: "previous_response_id" },
    ],
  ];
  for (const [body, expected] of cases) {
    test(`of ${Object.keys(body)}`, async () => {
      await assert.rejects(say("hi", body), { type: invalid, ...expected });
    });
  }

  test("of what cannot be read", async () => {
    const unknown = { status: 404, code: "response_not_found", type: invalid };
    await assert.rejects(openai.responses.retrieve("resp_1"), unknown);
    const { id } = await say("hi");
    const foreground = { status: 400, param: "stream", type: invalid };
    await assert.rejects(openai.responses.retrieve(id, { stream: true }), foreground);
  });
});
