// What streams of runs show, through the stock langgraph-sdk.
import assert from "node:assert/strict";
import { test } from "node:test";
import { client, collect, names, newThread, say } from "./server.js";

test("a stream ends with the state of the thread", async () => {
  const thread = await newThread();
  const streamMode = ["values", "messages-tuple"];
  const events = await collect(
    client.runs.stream(thread, "chat", { input: say("count 3"), streamMode }),
  );
  assert.deepEqual([names(events)[0], names(events).at(-1)], ["metadata", "end"]);
  const last = events.filter((one) => one.event === "values").at(-1);
  assert.deepEqual((await client.threads.getState(thread)).values, last.data);
  const chunks = events.filter((one) => one.event === "messages").map((one) => one.data[0]);
  assert.equal(chunks.map((one) => one.content).join(""), "0 1 2 ");
});

const MODES = {
  values: ["values"],
  updates: ["updates"],
  messages: ["messages/metadata", "messages/partial"],
  "messages-tuple": ["messages"],
  custom: ["custom"],
  debug: ["debug"],
  tasks: ["tasks"],
  checkpoints: ["checkpoints"],
  events: ["events"],
};
for (const [streamMode, expected] of Object.entries(MODES)) {
  test(`stream mode ${streamMode} gives ${expected.join(" and ")}`, async () => {
    const events = await collect(
      client.runs.stream(null, "chat", { input: say("count 2"), streamMode }),
    );
    const seen = new Set(names(events));
    assert.deepEqual(
      [...seen].filter((one) => one !== "metadata" && one !== "end").sort(),
      expected,
    );
  });
}

test("subgraphs are streamed under their names when asked for", async () => {
  const streamMode = ["updates", "messages-tuple"];
  const payload = { input: say("count 2"), streamMode };
  const flat = await collect(client.runs.stream(null, "nested", payload));
  assert.ok(names(flat).every((one) => !one.includes("|")));
  const deep = await collect(
    client.runs.stream(null, "nested", { ...payload, streamSubgraphs: true }),
  );
  const inside = names(deep).filter((one) => one.includes("|"));
  assert.match(inside[0], /^messages\|chat:[0-9a-f-]{36}$/);
  assert.match(inside.at(-1), /^updates\|chat:[0-9a-f-]{36}$/);
});

test("a follower sees the graphs it names, and only what its checkpoint has not", async () => {
  const thread = await newThread();
  const streamMode = ["updates", "values"];
  const payload = { input: say("count 2"), streamMode, streamNamespaces: [""] };
  let run;
  const onRunCreated = (created) => (run = created.run_id);
  const root = await collect(client.runs.stream(thread, "nested", { ...payload, onRunCreated }));
  assert.deepEqual(names(root), ["metadata", "values", "updates", "values", "end"]);

  const [head, ...older] = await client.threads.getHistory(thread);
  const join = (more) =>
    collect(client.runs.joinStream(thread, run, { lastEventId: "-1", streamMode, ...more }));
  const namespace = `chat:${older[0].tasks[0].id}`;
  const inside = await join({ streamNamespaces: [namespace] });
  const seen = ["values", "updates", "values"].map((mode) => `${mode}|${namespace}`);
  assert.deepEqual(names(inside), [...seen, "end"]);
  const shown = await join({ checkpointId: head.checkpoint.checkpoint_id });
  assert.deepEqual(names(shown), ["end"]);
});

test("a finished run is read again from any of its events on", async () => {
  const thread = await newThread();
  const run = await client.runs.create(thread, "steps", {
    input: {},
    streamMode: ["updates", "custom"],
  });
  await client.runs.join(thread, run.run_id);
  const read = (lastEventId, more) =>
    collect(client.runs.joinStream(thread, run.run_id, { lastEventId, ...more }));
  const all = await read("-1");
  assert.equal(all.filter((one) => one.event === "custom").length, 8);
  for (const [index, event] of all.entries()) {
    assert.deepEqual(await read(event.id), all.slice(index + 1));
  }
  const updates = await read("-1", { streamMode: "updates" });
  assert.deepEqual(new Set(names(updates)), new Set(["updates", "end"]));
});

test("a stateless run is joined by its id alone", async () => {
  const run = await client.runs.create(null, "slow", {
    input: { delay: 0.3 },
    streamMode: ["updates"],
  });
  const events = await collect(client.runs.joinStream(null, run.run_id, { lastEventId: "-1" }));
  const updates = events.filter((one) => one.event === "updates").map((one) => one.data);
  assert.deepEqual(
    updates,
    ["1", "2", "3", "4", "5"].map((step) => ({ [`n${step}`]: { steps: [step] } })),
  );
  assert.equal(names(events).at(-1), "end");
});
