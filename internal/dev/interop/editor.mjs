// An editor for tests: a client of the reference SDK that a test steers. Usage:
// node editor.mjs VERSION ws URL TOKEN, or node editor.mjs VERSION stdio PROGRAM ARG...
// Input lines: {call, method, params}, {notify, params}, {answer, result}, {reject: id}.
// Output lines: {call, result | error}, {update}, {ask, method, params}, {withdrawn: id}, {frame}, {sent}, {closed}.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { Readable, Writable } from "node:stream";
import { createWebSocketStream } from "@agentclientprotocol/sdk/experimental/ws-client";
import { WebSocket } from "ws";

const [version, transport, target, ...args] = process.argv.slice(2);
const sdk = await import(
  version === "2" ? "@agentclientprotocol/sdk/experimental/v2" : "@agentclientprotocol/sdk"
);
const print = (line) => process.stdout.write(JSON.stringify(line) + "\n");

function connect() {
  if (transport === "ws") {
    return createWebSocketStream(target, { WebSocket, headers: { Authorization: `Bearer ${args[0]}` } });
  }
  const child = spawn(target, args, { stdio: ["pipe", "pipe", "inherit"] });
  child.on("exit", (code) => print({ exit: code }));
  return sdk.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
}

const stream = connect();
const sent = new TransformStream({
  transform(message, controller) {
    print({ sent: message });
    controller.enqueue(message);
  },
});
sent.readable.pipeTo(stream.writable).catch(() => {});
const tapped = {
  writable: sent.writable,
  readable: stream.readable.pipeThrough(
    new TransformStream({
      transform(message, controller) {
        print({ frame: message });
        controller.enqueue(message);
      },
    }),
  ),
};

const pending = new Map();
let asked = 0;
const ask = (method) => (ctx) =>
  new Promise((resolve, reject) => {
    const id = ++asked;
    pending.set(id, { resolve, reject });
    ctx.signal.addEventListener("abort", () => {
      print({ withdrawn: id });
      reject(new Error("withdrawn"));
    });
    print({ ask: id, method, params: ctx.params });
  });

const app = sdk
  .client({ name: "editor" })
  .onRequest("session/request_permission", ask("session/request_permission"))
  .onRequest("elicitation/create", ask("elicitation/create"))
  .onNotification("session/update", (ctx) => print({ update: ctx.params }));

await app.connectWith(tapped, async (agent) => {
  const input = createInterface({ input: process.stdin });
  for await (const line of input) {
    const m = JSON.parse(line);
    if (m.call) {
      agent.request(m.method, m.params).then(
        (result) => print({ call: m.call, result }),
        (error) => print({ call: m.call, error: { code: error.code, message: error.message, data: error.data } }),
      );
    } else if (m.notify) {
      agent.notify(m.notify, m.params);
    } else if (m.answer) {
      pending.get(m.answer)?.resolve(m.result);
    } else if (m.reject) {
      pending.get(m.reject)?.reject(new Error("the editor failed"));
    }
  }
}).catch((error) => print({ failed: String(error) }));
print({ closed: true });
process.exit(0);
