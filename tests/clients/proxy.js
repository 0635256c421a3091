// A TCP proxy that cuts every connection again and again, in whatever it is just saying.
import net from "node:net";

/** Forwards to the server of `target`; `connections` counts, `close` ends it. */
export async function cuttingProxy(target, everySeconds) {
  const { hostname, port } = new URL(target);
  const sockets = new Set();
  const proxy = { connections: 0 };
  const listening = net.createServer((client) => {
    proxy.connections += 1;
    const upstream = net.connect(Number(port), hostname);
    join(client, upstream, sockets);
    join(upstream, client, sockets);
  });
  const cut = () => sockets.forEach((socket) => socket.destroy());
  const timer = setInterval(cut, everySeconds * 1000);
  await new Promise((resolve) => listening.listen(0, "127.0.0.1", resolve));
  proxy.url = `http://127.0.0.1:${listening.address().port}`;
  proxy.close = () => {
    clearInterval(timer);
    cut();
    listening.close();
  };
  return proxy;
}

function join(from, to, sockets) {
  sockets.add(from);
  from.pipe(to);
  from.on("error", () => from.destroy());
  from.on("close", () => {
    sockets.delete(from);
    to.destroy();
  });
}
