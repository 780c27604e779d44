// A client connection of the RPC library, which reconnects by itself. It counts chunks.
import { Socket } from "@effect/platform"
import * as NodeSocket from "@effect/platform-node/NodeSocket"
import { RpcClient, RpcSerialization } from "@effect/rpc"
import { Effect, Layer, Scope } from "effect"

// countChunks counts received chunks, and the largest number of unacknowledged chunks of one stream.
const countChunks = (ws, stats) => {
  const open = {}
  const each = (data, f) => String(data).split("\n").filter(Boolean).forEach((line) => f(JSON.parse(line)))
  ws.addEventListener("message", (e) => each(e.data, (m) => {
    if (m._tag !== "Chunk") return
    stats.chunks++
    open[m.requestId] = (open[m.requestId] ?? 0) + 1
    stats.unacknowledged = Math.max(stats.unacknowledged, open[m.requestId])
  }))
  const send = ws.send.bind(ws)
  ws.send = (data) => {
    each(data, (m) => m._tag === "Ack" && open[m.requestId]--)
    send(data)
  }
  return ws
}

// connect opens a connection with a client for a group of requests.
export const connect = async (url, group) => {
  const stats = { chunks: 0, unacknowledged: 0 }
  const sockets = new Set()
  const waiting = []
  const counted = Layer.effect(
    Socket.WebSocketConstructor,
    Effect.map(Socket.WebSocketConstructor, (make) => (to, protocols) => {
      const ws = countChunks(make(to, protocols), stats)
      sockets.add(ws)
      ws.addEventListener("open", () => waiting.splice(0).forEach((open) => open()))
      ws.addEventListener("close", () => sockets.delete(ws))
      return ws
    })
  ).pipe(Layer.provide(NodeSocket.layerWebSocketConstructor))
  const transport = RpcClient.layerProtocolSocket({ retryTransientErrors: true }).pipe(
    Layer.provide(Socket.layerWebSocket(url)),
    Layer.provide(counted),
    Layer.provide(RpcSerialization.layerNdjson)
  )
  const scope = await Effect.runPromise(Scope.make())
  const made = Effect.flatMap(Layer.build(transport), (context) => Effect.provide(RpcClient.make(group), context))
  const rpc = await Effect.runPromise(Scope.extend(made, scope))
  const isOpen = () => [...sockets].some((ws) => ws.readyState === 1)
  const waitOpen = () => new Promise((resolve) => (isOpen() ? resolve() : waiting.push(resolve)))
  return { rpc, stats, waitOpen, cut: () => sockets.forEach((ws) => ws.terminate()) }
}
