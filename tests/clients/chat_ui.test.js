// What agent-chat-ui and Studio send, call by call.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { client, collect, newThread, url } from "./server.js";

const ORIGIN = "https://chat.example.com";
const STREAM = {
  streamMode: ["values", "messages-tuple"],
  streamSubgraphs: true,
  streamResumable: true,
};

const human = (text) => ({ id: randomUUID(), type: "human", content: [{ type: "text", text }] });
const texts = (values) => values.messages.map((one) => one.content);
const heads = (thread) => client.threads.getHistory(thread, { limit: 10 });

/** Where the step to a state began: a run from there makes another of it. */
function parentOf(state) {
  const { thread_id: _, ...checkpoint } = state.parent_checkpoint;
  return { checkpoint };
}

/** What its chat sends for a message: `useStream`'s `submit` without stored run ids. */
async function send(thread, text, more = {}) {
  let created;
  const stream = client.runs.stream(thread, "chat", {
    input: { messages: [human(text)] },
    onDisconnect: "continue",
    onRunCreated: (run) => (created = run),
    ...STREAM,
    ...more,
  });
  const events = await collect(stream);
  assert.equal(created.thread_id, thread);
  return events.filter((one) => one.event === "values").at(-1).data;
}

test("agent-chat-ui finds the server, chats, regenerates, edits, answers and lists", async () => {
  const info = await fetch(`${url}/info`, { headers: { "X-Api-Key": "k", Origin: ORIGIN } });
  assert.ok(info.ok);
  assert.equal(info.headers.get("access-control-allow-origin"), "*");

  const thread = await newThread();
  assert.deepEqual(await heads(thread), []);
  const first = await send(thread, "count 3");
  assert.equal(texts(first).at(-1), "0 1 2 ");

  const history = await heads(thread);
  assert.deepEqual(history[0].values, first);
  const regenerated = await send(thread, "", { input: undefined, ...parentOf(history[0]) });
  assert.deepEqual(texts(regenerated), texts(first));
  assert.notEqual(regenerated.messages[1].id, first.messages[1].id);
  const asking = history.find((state) => state.values.messages.length === 1);
  const edited = await send(thread, "count 4", parentOf(asking));
  assert.deepEqual(texts(edited).slice(1), ["0 1 2 3 "]);

  const asked = await send(thread, "ask me");
  assert.deepEqual(asked.__interrupt__[0].value, { question: "me" });
  const decisions = [{ type: "approve" }];
  const answered = await send(thread, "", { input: {}, command: { resume: { decisions } } });
  assert.match(texts(answered).at(-1), /^You said .*approve/);
  await send(thread, "ask me");
  await send(thread, "", { input: {}, command: { goto: "__end__" } });

  const found = await client.threads.search({ metadata: { graph_id: "chat" }, limit: 100 });
  const shown = found.find((one) => one.thread_id === thread);
  assert.deepEqual(shown.values.messages[0].content, [{ type: "text", text: "count 4" }]);
  const own = { assistant_id: shown.metadata.assistant_id };
  const byId = await client.threads.search({ metadata: own, limit: 100 });
  assert.ok(byId.some((one) => one.thread_id === thread));
});

test("a run that the chat leaves is found again and stopped", async () => {
  const thread = await newThread();
  const left = new AbortController();
  let run;
  const stream = client.runs.stream(thread, "chat", {
    input: { messages: [human("count 300")] },
    onDisconnect: "continue",
    onRunCreated: (created) => (run = created.run_id),
    signal: left.signal,
    ...STREAM,
  });
  await stream.next();
  left.abort();
  const [head] = await heads(thread);
  const rejoined = client.runs.joinStream(thread, run, {
    lastEventId: "-1",
    checkpointId: head?.checkpoint.checkpoint_id,
  });
  const seen = [];
  for await (const event of rejoined) {
    seen.push(event);
    if (seen.length === 5) await client.runs.cancel(thread, run);
  }
  assert.equal(seen.at(-1).event, "end");
  assert.equal((await client.runs.get(thread, run)).status, "interrupted");
});

test("Studio's browser may call a server in the private network and read its headers", async () => {
  const preflight = await fetch(`${url}/threads/x/runs/stream`, {
    method: "OPTIONS",
    headers: {
      Origin: "https://smith.langchain.com",
      "Access-Control-Request-Method": "POST",
      "Access-Control-Request-Headers": "content-type,x-auth-scheme,last-event-id",
      "Access-Control-Request-Private-Network": "true",
    },
  });
  const allowed = (name) => preflight.headers.get(`access-control-allow-${name}`);
  assert.equal(preflight.status, 200);
  assert.equal(allowed("private-network"), "true");
  assert.match(allowed("methods"), /POST/);
  assert.match(allowed("headers"), /x-auth-scheme/);
  const search = await fetch(`${url}/assistants/search`, {
    method: "POST",
    body: JSON.stringify({ limit: 10, offset: 0, metadata: { created_by: "system" } }),
    headers: { Origin: "https://smith.langchain.com", "Content-Type": "text/plain" },
  });
  assert.ok((await search.json()).some((one) => one.graph_id === "chat"));
  const exposed = search.headers.get("access-control-expose-headers").toLowerCase().split(", ");
  for (const name of ["location", "content-location", "x-pagination-next", "x-pagination-total"]) {
    assert.ok(exposed.includes(name), name);
  }
});
