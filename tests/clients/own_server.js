// A server of a test's own: it is killed and started again, on the same port and database.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "./server.js";

const CONFIG = "../apps/crash/langgraph.json";

/** Serves `tests/apps/crash`, whose nodes wait at gates, until `stop`; $PYTHON runs it. */
export async function startServer() {
  const folder = await mkdtemp(join(tmpdir(), "clients-"));
  const gates = join(folder, "gates");
  await mkdir(gates);
  const port = await freePort();
  const command = `-m langgraph_durable dev --config ${CONFIG} --port ${port}`.split(" ");
  const server = new Server(`http://127.0.0.1:${port}`, gates, folder, command);
  await server.start();
  return server;
}

class Server {
  constructor(url, gates, folder, command) {
    Object.assign(this, { url, gates, folder, command });
  }

  async start() {
    const home = join(this.folder, "home");
    const log = openSync(join(this.folder, "log"), "a");
    this.process = spawn(process.env.PYTHON ?? "python", this.command, {
      env: { ...environment(), LANGGRAPH_DURABLE_HOME: home, GATES: this.gates },
      stdio: ["ignore", log, log],
    });
    closeSync(log);
    await until(() => this.answers(), `${this.url} is ready`, 60);
  }

  async answers() {
    if (this.process.exitCode !== null) throw new Error(await this.log());
    return await fetch(`${this.url}/ok`).then((answer) => answer.ok, () => false);
  }

  async log() {
    return await readFile(join(this.folder, "log"), "utf8");
  }

  async kill(signal = "SIGKILL") {
    const gone = once(this.process, "exit");
    this.process.kill(signal);
    await gone;
  }

  async stop() {
    if (this.process.exitCode === null && this.process.signalCode === null) {
      await this.kill("SIGTERM");
    }
    await rm(this.folder, { recursive: true });
  }

  /** Lets every node pass that waits at one of these gates, or comes there later. */
  async open(...names) {
    for (const name of names) await writeFile(join(this.gates, `${name}.open`), "");
  }

  /** How often a node has been executed. */
  async executions(node) {
    const log = await readFile(join(this.gates, "executions"), "utf8").catch(() => "");
    return log.split("\n").filter((line) => line.replace(/ \d+$/, "") === node).length;
  }
}

/** Without the address of another database. */
function environment() {
  const foreign = ([name]) => !/^(PG|DATABASE_)/.test(name);
  return Object.fromEntries(Object.entries(process.env).filter(foreign));
}

async function freePort() {
  const probe = net.createServer();
  await new Promise((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
