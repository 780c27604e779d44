// A connection of Sandcastle's clients: the library's own, which dials again by itself. What passes is counted.
import { Socket } from "@effect/platform"
import * as NodeSocket from "@effect/platform-node/NodeSocket"
import { RpcClient, RpcSerialization } from "@effect/rpc"
import { Effect, Layer, Scope } from "effect"

// count notes the chunks that come: how many, and how many of one stream at most before its Ack.
const count = (ws, seen) => {
  const open = {}
  const each = (data, f) => String(data).split("\n").filter(Boolean).forEach((line) => f(JSON.parse(line)))
  ws.addEventListener("message", (e) => each(e.data, (m) => {
    if (m._tag !== "Chunk") return
    seen.chunks++
    open[m.requestId] = (open[m.requestId] ?? 0) + 1
    seen.unacknowledged = Math.max(seen.unacknowledged, open[m.requestId])
  }))
  const send = ws.send.bind(ws)
  ws.send = (data) => {
    each(data, (m) => m._tag === "Ack" && open[m.requestId]--)
    send(data)
  }
  return ws
}

// link makes one, and a client for a group of requests.
export const link = async (url, group) => {
  const seen = { chunks: 0, unacknowledged: 0 }
  const sockets = new Set()
  const waiting = []
  const counted = Layer.effect(
    Socket.WebSocketConstructor,
    Effect.map(Socket.WebSocketConstructor, (make) => (to, protocols) => {
      const ws = count(make(to, protocols), seen)
      sockets.add(ws)
      ws.addEventListener("open", () => waiting.splice(0).forEach((open) => open()))
      ws.addEventListener("close", () => sockets.delete(ws))
      return ws
    })
  ).pipe(Layer.provide(NodeSocket.layerWebSocketConstructor))
  const wire = RpcClient.layerProtocolSocket({ retryTransientErrors: true }).pipe(
    Layer.provide(Socket.layerWebSocket(url)),
    Layer.provide(counted),
    Layer.provide(RpcSerialization.layerNdjson)
  )
  const scope = await Effect.runPromise(Scope.make())
  const made = Effect.flatMap(Layer.build(wire), (context) => Effect.provide(RpcClient.make(group), context))
  const rpc = await Effect.runPromise(Scope.extend(made, scope))
  const up = () => [...sockets].some((ws) => ws.readyState === 1)
  const open = () => new Promise((resolve) => (up() ? resolve() : waiting.push(resolve)))
  return { rpc, seen, open, cut: () => sockets.forEach((ws) => ws.terminate()) }
}
