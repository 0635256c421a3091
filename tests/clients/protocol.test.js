// The agent streaming protocol through the stock langgraph-sdk: `client.threads.stream`.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { client, say, until } from "./server.js";

const CHAT = { assistantId: "chat" };

describe("a thread's event stream", { concurrency: true }, () => {
  test("starts a run and gives its tokens, its values and its output", async () => {
    const thread = client.threads.stream(CHAT);
    await thread.run.start({ input: say("count 5") });
    const tokens = [];
    for await (const message of thread.messages) {
      for await (const token of message.text) tokens.push(token);
    }
    assert.deepEqual(tokens, ["0 ", "1 ", "2 ", "3 ", "4 "]);
    const output = await thread.output;
    assert.equal(output.messages.at(-1).content, "0 1 2 3 4 ");
    await thread.close();
  });

  test("shows a question and takes the answer", async () => {
    const thread = client.threads.stream(CHAT);
    await thread.run.start({ input: say("ask me") });
    await until(() => thread.interrupted, "it asks");
    const [{ interruptId, payload, namespace }] = thread.interrupts;
    assert.deepEqual([payload, namespace], [{ question: "me" }, []]);
    await thread.input.respond({ interrupt_id: interruptId, namespace, response: "yes" });
    const state = async () => (await client.threads.getState(thread.threadId)).values;
    const answered = async () => (await state()).messages.at(-1).content === "You said yes.";
    await until(answered, "the answer is heard");
    await thread.close();
  });

  test("is read from the beginning by whoever comes later", async () => {
    const first = client.threads.stream(CHAT);
    await first.run.start({ input: say("count 3") });
    await first.output;
    await first.close();
    const later = client.threads.stream(first.threadId, CHAT);
    const numbers = [];
    for await (const event of await later.subscribe(["custom"])) {
      numbers.push(event.params.data.payload.number);
      if (numbers.length === 3) break;
    }
    assert.deepEqual(numbers, [0, 1, 2]);
    await later.close();
  });
});
