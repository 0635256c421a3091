// The stock openai client in several turns: conversations, forks, tools of its own, people.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import OpenAI from "openai";
import { collect, url } from "./server.js";

const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none" });
const say = (input, more) => openai.responses.create({ model: "talk", input, ...more });
const count = async (more) => (await say("count", more)).output_text.trim();
const user = (content) => ({ role: "user", content });

const WEATHER = {
  type: "function",
  name: "weather",
  description: "How it is.",
  strict: true,
  parameters: { type: "object", properties: { city: { type: "string" } } },
};

describe("a conversation", () => {
  test("is created, read, changed and deleted", async () => {
    const made = await openai.conversations.create({ metadata: { topic: "a" } });
    assert.deepEqual([made.object, made.metadata], ["conversation", { topic: "a" }]);
    assert.deepEqual(await openai.conversations.retrieve(made.id), made);
    const changed = await openai.conversations.update(made.id, { metadata: { topic: "b" } });
    assert.deepEqual(changed.metadata, { topic: "b" });
    assert.equal((await openai.conversations.delete(made.id)).deleted, true);
    const gone = { status: 404, code: "conversation_not_found" };
    await assert.rejects(openai.conversations.retrieve(made.id), gone);
  });

  test("remembers its turns, and lists them as items", async () => {
    const { id } = await openai.conversations.create({ items: [user("before")] });
    assert.equal(await count({ conversation: id }), "2 heard");
    assert.equal(await count({ conversation: { id } }), "3 heard");
    const listed = await collect(openai.conversations.items.list(id, { order: "asc", limit: 2 }));
    assert.deepEqual(
      listed.map((item) => [item.role, item.content[0].text.trim()]),
      [
        ["user", "before"],
        ["user", "count"],
        ["assistant", "2 heard"],
        ["user", "count"],
        ["assistant", "3 heard"],
      ],
    );
  });

  test("takes and gives items one by one", async () => {
    const { id } = await openai.conversations.create();
    const { data } = await openai.conversations.items.create(id, {
      items: [user("one"), user("two")],
    });
    const [first, second] = data;
    const where = { conversation_id: id };
    assert.deepEqual(await openai.conversations.items.retrieve(first.id, where), first);
    await openai.conversations.items.delete(first.id, where);
    const left = await collect(openai.conversations.items.list(id));
    assert.deepEqual(left, [second]);
    assert.equal(await count({ conversation: id }), "2 heard");
  });

  test("that was not created before begins with its first turn", async () => {
    const conversation = `conv_${crypto.randomUUID()}`;
    const response = await say("count", { conversation });
    assert.equal(response.conversation.id, conversation);
    assert.equal(await count({ conversation }), "2 heard");
  });
});

describe("a previous response", () => {
  test("is continued, and forked when others went on from it", async () => {
    const first = await say("count");
    const second = await say("count", { previous_response_id: first.id });
    assert.equal(second.output_text.trim(), "2 heard");
    assert.equal(await count({ previous_response_id: second.id }), "3 heard");
    assert.equal(await count({ previous_response_id: first.id }), "2 heard");
    assert.equal(await count(), "1 heard");
  });

  test("passes its instructions not on", async () => {
    const told = async (more) => JSON.parse((await say("show", more)).output_text).system;
    const first = await say("show", { instructions: "Be brief." });
    assert.deepEqual(JSON.parse(first.output_text).system, ["Be brief."]);
    assert.deepEqual(await told({ previous_response_id: first.id }), []);
  });

  test("may also be sent along as a whole, and is not heard twice", async () => {
    const first = await say("count");
    const history = [user("count"), ...first.output, user("count")];
    assert.equal(await count({ input: history }), "2 heard");
    assert.equal(await count({ input: history, previous_response_id: first.id }), "2 heard");
  });
});

describe("a function of the client", () => {
  test("is called and answered", async () => {
    const asked = await say("weather?", { tools: [WEATHER] });
    const [call] = asked.output;
    assert.deepEqual([call.type, call.name], ["function_call", "weather"]);
    assert.deepEqual(JSON.parse(call.arguments), { city: "Graz" });
    assert.deepEqual(asked.tools, [WEATHER]);
    const output = { type: "function_call_output", call_id: call.call_id, output: "sunny" };
    const answered = await say([output], { previous_response_id: asked.id, tools: [WEATHER] });
    assert.equal(answered.output_text.trim(), "sunny");
    const history = [user("weather?"), call, output];
    const stateless = await say(history, { tools: [WEATHER] });
    assert.equal(stateless.output_text.trim(), "sunny");
  });

  test("is called in a stream that the helper follows", async () => {
    const asked = { model: "talk", input: "weather?", tools: [WEATHER] };
    const stream = openai.responses.stream(asked);
    const done = [];
    stream.on("response.function_call_arguments.done", (event) => done.push(event));
    const [call] = (await stream.finalResponse()).output;
    assert.deepEqual(
      done.map((event) => [event.name, event.arguments]),
      [["weather", call.arguments]],
    );
    assert.deepEqual(call.parsed_arguments, { city: "Graz" });
  });
});

describe("a question of the graph", () => {
  for (const [approve, told] of [
    [true, "paid"],
    [false, "not paid"],
  ]) {
    test(`is answered with ${approve}, with and without the response that asked`, async () => {
      for (const stateless of [false, true]) {
        const asked = await say("pay");
        const question = asked.output.at(-1);
        assert.deepEqual(
          [asked.status, question.type, JSON.parse(question.arguments)],
          ["completed", "mcp_approval_request", { question: "Pay 7?" }],
        );
        const answer = { type: "mcp_approval_response", approval_request_id: question.id, approve };
        const answered = stateless
          ? await say([user("pay"), ...asked.output, answer])
          : await say([answer], { previous_response_id: asked.id });
        assert.deepEqual(answered.output_text.trim(), told);
        assert.deepEqual([answered.output[0].type, answered.output[0].output], ["mcp_call", told]);
      }
    });
  }

  test("is asked as a call of the function that the client declares for it", async () => {
    const tools = [{ ...WEATHER, name: "langgraph_interrupt" }];
    const asked = await openai.responses.create({ model: "chat", input: "ask me", tools });
    const call = asked.output.at(-1);
    assert.deepEqual([call.type, call.name], ["function_call", "langgraph_interrupt"]);
    const output = { type: "function_call_output", call_id: call.call_id, output: '"forty"' };
    const answered = await openai.responses.create({
      model: "chat",
      input: [output],
      tools,
      previous_response_id: asked.id,
    });
    assert.equal(answered.output_text, "You said forty.");
  });
});
