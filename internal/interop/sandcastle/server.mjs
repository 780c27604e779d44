// A server of Sandcastle with one session, "abc", in memory. It prints its port. It answers "hello", and works on "hang" until it
// is interrupted.
import * as NodeSocketServer from "@effect/platform-node/NodeSocketServer"
import { SocketServer } from "@effect/platform"
import { RpcSerialization, RpcServer } from "@effect/rpc"
import { Effect, Layer, Mailbox } from "effect"
import { group } from "./schema.mjs"

const session = { turn: null, context: undefined, buffer: [], queue: [], last: null, turns: 0, readers: new Set() }

const publish = (e) => session.readers.forEach((m) => m.unsafeOffer(e))
const snapshot = () => ({
  status: session.turn ? "streaming" : "idle",
  activeTurnId: session.turn,
  queue: session.queue,
  historyCursor: { lastMessageId: session.last, lastMessageAt: session.last && new Date().toISOString() }
})
const say = (event) => {
  session.buffer.push(event)
  publish({ _tag: "StreamEvent", turnId: session.turn, event })
}

const start = (message) => {
  session.turns++
  const startedAt = new Date().toISOString()
  session.turn = `turn-${session.turns}`
  session.buffer = []
  session.context = { turnId: session.turn, messageId: message.id, content: message.content, clientMessageId: message.clientMessageId, startedAt }
  publish({ _tag: "UserMessage", message })
  publish({ _tag: "SessionStarted", turnId: session.turn, messageId: message.id, startedAt })
  say({ type: "start", messageId: `answer-${session.turns}` })
  say({ type: "text-start", id: "p" })
  say({ type: "text-delta", id: "p", delta: "you said " })
  say({ type: "text-delta", id: "p", delta: message.content })
  if (message.content === "hang") return
  say({ type: "text-end", id: "p" })
  say({ type: "tool-input-available", toolCallId: `call-${session.turns}`, toolName: "Bash", input: { command: "ls" } })
  say({ type: "tool-output-available", toolCallId: `call-${session.turns}`, output: "a b c" })
  say({ type: "finish", finishReason: "stop" })
  stop("completed")
}

const stop = (reason) => {
  const turnId = session.turn
  session.last = `answer-${session.turns}`
  session.turn = null
  session.context = undefined
  session.buffer = []
  publish({ _tag: "SessionStopped", turnId, reason })
  const next = session.queue.shift()
  if (next) {
    publish({ _tag: "MessageDequeued", messageId: next.id })
    start(next)
  }
}

const found = (id, answer) => (id === "abc" ? Effect.sync(answer) : Effect.fail("SESSION_NOT_FOUND"))

let messages = 0
const handlers = group.toLayer({
  SubscribeSession: ({ sessionId }) =>
    sessionId !== "abc" ? Effect.fail("SESSION_NOT_FOUND") : Effect.gen(function* () {
      const mailbox = yield* Mailbox.make()
      yield* mailbox.offer({ _tag: "InitialState", snapshot: snapshot(), buffer: [...session.buffer], turnContext: session.context })
      session.readers.add(mailbox)
      yield* Effect.addFinalizer(() => Effect.sync(() => session.readers.delete(mailbox)))
      return mailbox
    }),
  SendMessage: ({ sessionId, content, clientMessageId }) =>
    found(sessionId, () => {
      const message = { id: `message-${++messages}`, content, clientMessageId }
      if (session.turn) {
        const queuedMessage = { ...message, queuedAt: new Date().toISOString() }
        session.queue.push(queuedMessage)
        publish({ _tag: "MessageQueued", message: queuedMessage })
        return { status: "queued", queuedMessage }
      }
      start(message)
      return { status: "started", messageId: message.id }
    }),
  Interrupt: ({ sessionId }) =>
    found(sessionId, () => {
      const interrupted = session.turn !== null
      if (interrupted) stop("interrupted")
      return { interrupted }
    }),
  DequeueMessage: ({ sessionId, messageId }) =>
    found(sessionId, () => {
      const i = session.queue.findIndex((m) => m.id === messageId)
      if (i >= 0) {
        session.queue.splice(i, 1)
        publish({ _tag: "MessageDequeued", messageId })
      }
      return { removed: i >= 0 }
    }),
  GetSessionState: ({ sessionId }) => found(sessionId, snapshot)
})

const told = Layer.effectDiscard(
  Effect.flatMap(SocketServer.SocketServer, (s) => Effect.sync(() => console.log(s.address.port)))
)

const main = RpcServer.layer(group).pipe(
  Layer.provide(handlers),
  Layer.provide(RpcServer.layerProtocolSocketServer),
  Layer.merge(told),
  Layer.provide(NodeSocketServer.layerWebSocket({ port: 0, host: "127.0.0.1" })),
  Layer.provide(RpcSerialization.layerNdjson)
)

process.stdin.on("end", () => process.exit(0)).resume()
Effect.runPromise(Layer.launch(main)).catch((e) => {
  console.error(e)
  process.exit(1)
})
