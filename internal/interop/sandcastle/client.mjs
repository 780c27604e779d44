// A client of Sandcastle: it does all that a person there can do in one session, and prints what it sees, a JSON object per line.
import * as NodeSocket from "@effect/platform-node/NodeSocket"
import { RpcClient, RpcSerialization } from "@effect/rpc"
import { Deferred, Effect, Fiber, Layer, Stream } from "effect"
import { group } from "./schema.mjs"

const [url, sessionId] = process.argv.slice(2)
const print = (what, value) => Effect.sync(() => console.log(JSON.stringify({ what, value })))

const protocol = RpcClient.layerProtocolSocket({ retryTransientErrors: true }).pipe(
  Layer.provide(NodeSocket.layerWebSocket(url)),
  Layer.provide(RpcSerialization.layerNdjson)
)

const program = Effect.gen(function* () {
  const rpc = yield* RpcClient.make(group)
  const nobody = yield* Effect.flip(rpc.GetSessionState({ sessionId: "nope" }))
  yield* print("unknown session", nobody)
  const nothing = yield* Effect.flip(Stream.runDrain(rpc.SubscribeSession({ sessionId: "nope" })))
  yield* print("unknown session, streamed", nothing)
  yield* print("state", yield* rpc.GetSessionState({ sessionId }))
  yield* print("idle", yield* rpc.Interrupt({ sessionId }))

  // until runs a stream up to an event, and tells what was seen of it.
  const until = (name, last) =>
    Effect.gen(function* () {
      const opened = yield* Deferred.make()
      const fiber = yield* rpc.SubscribeSession({ sessionId }).pipe(
        Stream.tap((e) => print(name, e)),
        Stream.tap((e) => (e._tag === "InitialState" ? Deferred.succeed(opened, e) : Effect.void)),
        Stream.takeUntil(last),
        Stream.runDrain,
        Effect.fork
      )
      yield* Deferred.await(opened)
      return fiber
    })

  const stopped = (e) => e._tag === "SessionStopped"
  const first = yield* until("first", stopped)
  const parts = [{ type: "text", text: "hello" }]
  yield* print("sent", yield* rpc.SendMessage({ sessionId, content: "hello", parts, clientMessageId: "temp_1" }))
  yield* Fiber.join(first)

  // A turn that goes on until it is interrupted; a second stream comes in the middle of it.
  const says = (text) => (e) => e._tag === "StreamEvent" && e.event.type === "text-delta" && e.event.delta.includes(text)
  const running = yield* until("running", says("working"))
  yield* print("sent", yield* rpc.SendMessage({ sessionId, content: "hang", clientMessageId: "temp_2" }))
  yield* Fiber.join(running)
  const late = yield* until("late", (e) => e._tag === "MessageDequeued")
  const queued = yield* rpc.SendMessage({ sessionId, content: "more", clientMessageId: "temp_3" })
  yield* print("sent", queued)
  yield* print("removed", yield* rpc.DequeueMessage({ sessionId, messageId: queued.queuedMessage.id }))
  yield* print("removed", yield* rpc.DequeueMessage({ sessionId, messageId: queued.queuedMessage.id }))
  yield* Fiber.join(late)
  const end = yield* until("end", stopped)
  yield* print("interrupted", yield* rpc.Interrupt({ sessionId }))
  yield* Fiber.join(end)
  yield* print("state", yield* rpc.GetSessionState({ sessionId }))
})

Effect.runPromise(program.pipe(Effect.scoped, Effect.provide(protocol), Effect.timeout("60 seconds"))).then(
  () => process.exit(0),
  (e) => {
    console.error(e)
    process.exit(1)
  }
)
