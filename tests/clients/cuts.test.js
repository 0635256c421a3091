// Half a minute of steady events over connections that are cut every two seconds.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Client } from "@langchain/langgraph-sdk";
import { cuttingProxy } from "./proxy.js";
import { client as direct, collect, names, newThread, say } from "./server.js";

const END = 300;
const NUMBERS = Array.from({ length: END }, (_, number) => number);
const QUESTION = { input: say(`count ${END}`), streamMode: ["messages-tuple", "custom", "values"] };

/** Complete, in order, nothing twice. */
function assertWhole(events) {
  const of = (name) => events.filter((one) => one.event === name).map((one) => one.data);
  assert.deepEqual(
    of("custom"),
    NUMBERS.map((number) => ({ number })),
  );
  const text = of("messages")
    .map(([chunk]) => chunk.content)
    .join("");
  assert.equal(text, NUMBERS.map((number) => `${number} `).join(""));
  assert.equal(of("values").at(-1).messages.at(-1).content, text);
  const ids = events.map((one) => Number(one.id));
  assert.deepEqual(
    ids,
    [...new Set(ids)].sort((a, b) => a - b),
  );
  assert.deepEqual([names(events)[0], names(events).at(-1)], ["metadata", "end"]);
}

describe("a run's stream over a line that is cut every 2 s is whole", { concurrency: true }, () => {
  let proxy;
  let client;
  before(async () => {
    proxy = await cuttingProxy(process.env.URL, 2);
    client = new Client({ apiUrl: proxy.url });
  });
  after(() => {
    proxy.close();
    assert.ok(proxy.connections > 40, `only ${proxy.connections} connections`);
  });

  test("for the client that started it", async () => {
    assertWhole(await collect(client.runs.stream(await newThread(), "chat", QUESTION)));
  });

  test("for a stateless run", async () => {
    assertWhole(await collect(client.runs.stream(null, "chat", QUESTION)));
  });

  test("for one who joins it from its first event on", async () => {
    const thread = await newThread();
    const run = await direct.runs.create(thread, "chat", QUESTION);
    const stream = client.runs.joinStream(thread, run.run_id, { lastEventId: "-1" });
    assertWhole(await collect(stream));
  });

  test("in the agent streaming protocol", async () => {
    const thread = client.threads.stream({ assistantId: "chat" });
    await thread.run.start({ input: say(`count ${END}`) });
    const tokens = [];
    for await (const message of thread.messages) {
      for await (const token of message.text) tokens.push(token);
    }
    assert.deepEqual(
      tokens,
      NUMBERS.map((number) => `${number} `),
    );
    const { messages } = await thread.output;
    assert.equal(messages.at(-1).text, tokens.join(""));
    await thread.close();
  });
});
