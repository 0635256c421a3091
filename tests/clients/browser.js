// A page in headless Chromium, served from another origin than the API.
import http from "node:http";
import { build } from "esbuild";
import { chromium } from "playwright-core";
import { url } from "./server.js";

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Bundles `page/<name>.jsx` and serves it; `open` gives a browser tab of its own with it. */
export async function pageServer(name) {
  const { outputFiles } = await build({
    entryPoints: [`page/${name}.jsx`],
    bundle: true,
    write: false,
    format: "esm",
    jsx: "automatic",
    define: { "process.env.NODE_ENV": '"production"' },
    logLevel: "error",
  });
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });
  const html = '<!doctype html><div id="root"></div><script type="module" src="/page.js"></script>';
  const server = http.createServer((request, response) => {
    const script = request.url === "/page.js";
    response.setHeader("content-type", script ? "text/javascript" : "text/html");
    response.end(script ? outputFiles[0].contents : html);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${server.address().port}`;
  return {
    open: (query = {}) =>
      opened(browser, `${origin}/?${new URLSearchParams({ api: url, ...query })}`),
    async close() {
      await browser.close();
      server.close();
    },
  };
}

/** A tab, its `complaints` (errors of the page and of its console) and its API `calls`. */
async function opened(browser, address) {
  const context = await browser.newContext();
  const tab = await context.newPage();
  tab.setDefaultTimeout(20_000);
  tab.complaints = [];
  tab.calls = [];
  tab.on("pageerror", (error) => tab.complaints.push(String(error)));
  tab.on("console", (line) => line.type() === "error" && tab.complaints.push(line.text()));
  tab.on("request", (one) => one.url().startsWith(url) && tab.calls.push(called(one)));
  await tab.goto(address);
  return tab;
}

const called = (request) => `${request.method()} ${new URL(request.url()).pathname}`;
