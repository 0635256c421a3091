// The stock AI SDK of Vercel, with its stock provider for the Responses API.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, jsonSchema, Output, stepCountIs, streamText, tool } from "ai";
import { collect, url } from "./server.js";

const openai = createOpenAI({ baseURL: `${url}/v1`, apiKey: "none" });
const talk = openai.responses("talk");

const user = (content) => ({ role: "user", content });
const of = (parts, type) => parts.filter((part) => part.type === type);
const textOf = (parts) =>
  of(parts, "text-delta")
    .map((part) => part.text)
    .join("");

const generate = (more) => generateText({ model: talk, maxRetries: 0, ...more });
const stream = async (more) =>
  await collect(
    streamText({ model: talk, maxRetries: 0, onError: () => {}, ...more }).fullStream,
  );

describe("text", () => {
  test("is generated", async () => {
    const { text, finishReason, usage, warnings } = await generate({ prompt: "hi" });
    assert.deepEqual([text, finishReason, warnings], ["You said: hi ", "stop", []]);
    assert.deepEqual([usage.inputTokens, usage.outputTokens], [3, 2]);
  });

  test("is streamed", async () => {
    const parts = await stream({ prompt: "hi" });
    assert.ok(of(parts, "text-delta").length > 1);
    assert.equal(textOf(parts), "You said: hi ");
    assert.equal(parts.at(-1).finishReason, "stop");
  });

  test("comes with the thoughts and the sources behind it", async () => {
    const thought = await generate({ prompt: "think" });
    assert.deepEqual([thought.reasoningText, thought.text], ["I think so ", "I am "]);
    const parts = await stream({ prompt: "think" });
    assert.equal(of(parts, "reasoning-delta").length, 3);
    const { sources } = await generate({ prompt: "cite" });
    assert.deepEqual(
      sources.map((source) => source.url),
      ["https://a.test/"],
    );
  });

  test("keeps to a schema", async () => {
    const schema = jsonSchema({ type: "object", properties: { city: { type: "string" } } });
    const { output } = await generate({ prompt: "weather", output: Output.object({ schema }) });
    assert.equal(output.city, "Graz");
  });
});

describe("several turns", () => {
  const count = async (more) => (await generate({ prompt: "count", ...more })).text.trim();
  const openaiOptions = (options) => ({ providerOptions: { openai: options } });

  test("in a conversation", async () => {
    const conversation = `conv_${crypto.randomUUID()}`;
    for (const heard of ["1 heard", "2 heard"]) {
      assert.equal(await count(openaiOptions({ conversation })), heard);
    }
  });

  test("behind a previous response", async () => {
    const { response } = await generate({ prompt: "count" });
    assert.equal(await count(openaiOptions({ previousResponseId: response.id })), "2 heard");
  });

  for (const store of [true, false]) {
    test(`in messages that the client keeps, store: ${store}`, async () => {
      const model = openai.responses("compliance");
      const how = { model, maxRetries: 0, ...openaiOptions({ store }) };
      const messages = [user("one")];
      const first = streamText({ ...how, messages });
      await first.consumeStream();
      messages.push(...(await first.response).messages, user("two"));
      const second = await generateText({ ...how, messages });
      messages.push(...second.response.messages, user("three"));
      const { text } = await generateText({ ...how, messages });
      const heard = "I have heard: ";
      const before = `one ${heard}one two`;
      assert.equal(text, `${heard}${before} ${heard}${before} three`);
    });
  }

  test("with what a tool of the server said", async () => {
    const { response } = await generate({ prompt: "add" });
    const messages = [user("add"), ...response.messages, user("and?")];
    const model = openai.responses("compliance");
    const { text } = await generateText({ model, messages, maxRetries: 0 });
    assert.equal(text.replace(/ +/g, " "), "I have heard: add 5 5 and?");
  });
});

describe("a tool of the server", () => {
  function assertShown(parts) {
    assert.deepEqual(of(parts, "tool-error"), []);
    const [[call, ...more], [result]] = ["tool-call", "tool-result"].map((t) => of(parts, t));
    assert.deepEqual([call.toolName, call.input], ["mcp.add", { a: 2, b: 3 }]);
    assert.deepEqual([call.providerExecuted, more], [true, []]);
    assert.equal(result.output.output, "5");
  }

  test("is shown with its result in a generated text", async () => {
    const { content, text, finishReason } = await generate({ prompt: "add" });
    assertShown(content);
    assert.deepEqual([text, finishReason], ["5 ", "stop"]);
  });

  test("is shown with its result in a stream", async () => {
    const parts = await stream({ prompt: "add" });
    assertShown(parts);
    assert.deepEqual([textOf(parts), parts.at(-1).finishReason], ["5 ", "stop"]);
  });
});

describe("a tool of the client", () => {
  const weather = tool({
    description: "How it is.",
    inputSchema: jsonSchema({ type: "object", properties: { city: { type: "string" } } }),
    execute: ({ city }) => `sunny in ${city}`,
  });
  const asking = { prompt: "weather?", tools: { weather }, stopWhen: stepCountIs(3) };

  test("is run between two generated steps", async () => {
    const { steps, text } = await generate(asking);
    assert.deepEqual(
      steps.map((step) => step.finishReason),
      ["tool-calls", "stop"],
    );
    assert.equal(steps[0].toolResults[0].output, "sunny in Graz");
    assert.equal(text, "sunny in Graz ");
  });

  test("is run between two streamed steps", async () => {
    const parts = await stream(asking);
    assert.deepEqual(of(parts, "tool-error"), []);
    assert.equal(of(parts, "tool-call").length, 1);
    assert.equal(of(parts, "tool-result")[0].output, "sunny in Graz");
    assert.equal(textOf(parts), "sunny in Graz ");
  });
});

describe("a question of the graph", () => {
  const serverUrl = "https://langgraph.test";
  const langgraph = openai.tools.mcp({ serverLabel: "langgraph", serverUrl });

  for (const [approved, told] of [
    [true, "paid"],
    [false, "not paid"],
  ]) {
    for (const tools of [{}, { langgraph }]) {
      const declared = "langgraph" in tools ? "declared" : "undeclared";
      test(`is a request for approval, answered with ${approved}, ${declared}`, async () => {
        const asked = await generate({ prompt: "pay", tools });
        const [request] = of(asked.content, "tool-approval-request");
        assert.deepEqual(request.toolCall.input, { question: "Pay 7?" });
        const answer = { approvalId: request.approvalId, approved, providerExecuted: true };
        const answered = await generate({
          tools,
          messages: [
            user("pay"),
            ...asked.response.messages,
            { role: "tool", content: [{ type: "tool-approval-response", ...answer }] },
          ],
        });
        assert.equal(answered.text.trim(), told);
        assert.equal(of(answered.content, "tool-result").at(-1).output.output, told);
      });
    }
  }

  test("is a part of the stream", async () => {
    const parts = await stream({ prompt: "pay" });
    const [request] = of(parts, "tool-approval-request");
    assert.deepEqual(request.toolCall.input, { question: "Pay 7?" });
    assert.deepEqual([...of(parts, "error"), ...of(parts, "tool-error")], []);
  });
});

describe("a run that fails", () => {
  test("is an error of the generated text", async () => {
    await assert.rejects(generate({ prompt: "fail" }), { message: "boom" });
  });

  test("is an error in the stream", async () => {
    const [error] = of(await stream({ prompt: "fail" }), "error");
    assert.match(JSON.stringify(error.error), /boom/);
  });

  test("that may not go on is no error", async () => {
    const { finishReason, rawFinishReason } = await generate({ prompt: "loop" });
    assert.deepEqual([finishReason, rawFinishReason], ["other", "recursion_limit"]);
  });

  test("is not a request that is refused", async () => {
    const unknown = generate({ model: openai.responses("gpt-5"), prompt: "hi" });
    await assert.rejects(unknown, {
      statusCode: 400,
      isRetryable: false,
      message: /model 'gpt-5' does not exist/,
    });
  });
});
