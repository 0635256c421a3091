// The server under test, which runs at $URL, and what the tests ask it all the time.
import { Client } from "@langchain/langgraph-sdk";

export const url = process.env.URL;
export const client = new Client({ apiUrl: url });

/** Input for a chat graph. */
export const say = (text) => ({ messages: [{ role: "user", content: text }] });

export async function newThread() {
  return (await client.threads.create()).thread_id;
}

/** Everything that an async iterator gives. */
export async function collect(stream) {
  const events = [];
  for await (const event of stream) events.push(event);
  return events;
}

/** The next part of a stream with that event; the stream stays open. */
export async function next(stream, event) {
  for (;;) {
    const { done, value } = await stream.next();
    if (done) throw new Error(`the stream ended without ${event}`);
    if (value.event === event) return value;
  }
}

/** Asks until `condition` gives something true. */
export async function until(condition, what, seconds = 20) {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const found = await condition();
    if (found) return found;
    if (Date.now() > deadline) throw new Error(`waited ${seconds} s in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export const names = (events) => events.map((one) => one.event);
