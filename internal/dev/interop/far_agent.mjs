// Serves an agent of the interop tests with the server of the reference SDK, over HTTP and WebSocket.
// Usage: node far_agent.mjs KEY PROGRAM ARG... It prints its port. Each connection gets a process.
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { Readable, Writable } from "node:stream";
import { ndJsonStream } from "@agentclientprotocol/sdk";
import { createNodeHttpHandler, createNodeWebSocketUpgradeHandler } from "@agentclientprotocol/sdk/experimental/node";
import { AcpServer } from "@agentclientprotocol/sdk/experimental/server";
import { WebSocketServer } from "ws";

const [key, program, ...args] = process.argv.slice(2);

const agent = {
  connect(stream) {
    const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
    const lines = ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
    const closed = new Promise((resolve) => child.on("close", resolve));
    stream.readable.pipeTo(lines.writable).catch(() => child.kill()).finally(() => child.kill());
    lines.readable.pipeTo(stream.writable).catch(() => child.kill());
    return { closed };
  },
};

const acp = new AcpServer({ agent });
const handle = createNodeHttpHandler(acp);
const upgrade = createNodeWebSocketUpgradeHandler(acp, new WebSocketServer({ noServer: true }));
const allowed = (req) => req.headers.authorization === `Bearer ${key}`;

const server = createServer((req, res) => {
  if (!allowed(req)) {
    res.writeHead(401).end();
    return;
  }
  handle(req, res);
});
server.on("upgrade", (req, socket, head) => {
  if (!allowed(req)) {
    socket.end("HTTP/1.1 401 Unauthorized\r\n\r\n");
    return;
  }
  upgrade(req, socket, head);
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.stdin.resume().on("end", () => process.exit(0)); // with the test
