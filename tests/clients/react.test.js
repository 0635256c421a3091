// React pages with `useStream`, the old hook and the new one, in a real browser.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { pageServer } from "./browser.js";
import { client, until } from "./server.js";

const counted = (end) => Array.from({ length: end }, (_, number) => `${number} `).join("");

const thread = (tab) => new URL(tab.url()).searchParams.get("thread");
const run = (tab) => tab.getAttribute("main", "data-run");
const status = async (tab, id) => (await client.runs.get(thread(tab), id)).status;
const idle = (tab) => tab.waitForSelector("main[data-state=idle]");
const said = (tab) =>
  tab
    .locator("li.ai")
    .last()
    .evaluate((one) => one.textContent);

async function send(tab, text) {
  await tab.fill("input", text);
  await tab.click("#send");
}

/** Sends, and waits until the answer grows. */
async function begin(tab, text) {
  await send(tab, text);
  await tab.getByText("0 1 2", { exact: false }).waitFor();
  return run(tab);
}

/** Clicks until the answer is heard: a hook that has only just loaded may send nothing yet. */
async function answer(tab) {
  const heard = tab.getByText("You said yes.");
  for (let patience = 5; patience > 0 && !(await heard.isVisible()); patience -= 1) {
    await tab.click("#yes");
    await heard.waitFor({ timeout: 4000 }).catch(() => {});
  }
  await heard.waitFor();
}

function everyPage(pages) {
  test("shows an answer token by token and keeps it", async () => {
    const tab = await pages.open();
    await begin(tab, "count 40");
    assert.notEqual(await said(tab), counted(40));
    await idle(tab);
    assert.equal(await said(tab), counted(40));
    await tab.reload();
    await tab.waitForSelector("li.ai");
    assert.equal(await said(tab), counted(40));
    assert.deepEqual(tab.complaints, []);
  });

  test("that is reloaded in the middle of a run rejoins it and shows it whole", async () => {
    const tab = await pages.open();
    const id = await begin(tab, "count 100");
    await tab.reload();
    await tab.getByText("0 1 2", { exact: false }).waitFor();
    assert.equal(await status(tab, id), "running");
    await idle(tab);
    assert.equal(await said(tab), counted(100));
    assert.equal(await tab.locator("li").count(), 2);
    assert.equal((await client.runs.list(thread(tab))).length, 1);
    assert.deepEqual(tab.complaints, []);
  });

  test("shows a question, also after a reload, and sends the answer", async () => {
    const tab = await pages.open();
    await send(tab, "ask really?");
    await tab.waitForSelector("#question");
    await tab.reload();
    assert.match(await tab.textContent("#question"), /^really\?/);
    await answer(tab);
    await idle(tab);
    assert.equal(await tab.locator("#question").count(), 0);
    assert.deepEqual(tab.complaints, []);
  });

  test("stops the run with its stop button and goes on with the next", async () => {
    const tab = await pages.open();
    const id = await begin(tab, "count 300");
    await tab.click("#stop");
    await until(async () => (await status(tab, id)) === "interrupted", "the run is cancelled", 5);
    await send(tab, "count 4");
    await tab.getByText(counted(4).trim(), { exact: true }).waitFor();
    await idle(tab);
    assert.equal(await tab.locator("#error").count(), 0);
    assert.deepEqual(tab.complaints, []);
  });
}

/** The tests of a page that is served while they run. */
function describePage(name, tests) {
  describe(`a page with ${name}`, { concurrency: true }, () => {
    const pages = {};
    before(async () => Object.assign(pages, await pageServer(name.split("/").at(-1))));
    after(() => pages.close());
    tests(pages);
  });
}

describePage("langgraph-sdk", (pages) => {
  everyPage(pages);

  test("that keeps no runs in mind stops its run by hanging up", async () => {
    const tab = await pages.open({ rejoins: "no" });
    const id = await begin(tab, "count 300");
    await tab.click("#stop");
    await until(async () => (await status(tab, id)) === "interrupted", "the run is cancelled");
    assert.ok(tab.calls.every((call) => !call.endsWith("/cancel")));
    assert.deepEqual(tab.complaints, []);
  });
});

describePage("@langchain/react", everyPage);
