// A server of Sandcastle with one session, "abc". Its arguments: the port (0: any), the requests that it knows (document, chat, or
// untold: chat without the history), and a file that keeps the finished turns. By the document the history is read over HTTP.
//
// It answers "hello", says much on "much", asks for a decision on "ask", says one of each kind on "kinds", and works on "hang" until it is
// interrupted. Verbs:
//   say {text}   goes on with the turn under way
//   fail {}      breaks every stream off, which breaks off all that its connection asked
//   end {}       ends the turn under way
// It tells its port, and how many streams there are when one ends.
import * as NodeSocketServer from "@effect/platform-node/NodeSocketServer"
import { SocketServer } from "@effect/platform"
import { RpcSerialization, RpcServer } from "@effect/rpc"
import { Cause, Effect, Layer, Mailbox } from "effect"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { obey, print } from "./console.mjs"
import { chat, document, untold } from "./schema.mjs"

const [port, tags, file] = process.argv.slice(2)
const history = existsSync(file) ? JSON.parse(readFileSync(file)) : []
const session = { turn: null, context: undefined, buffer: [], queue: [], pending: [], turns: history.length / 2, readers: new Set() }

const publish = (e) => session.readers.forEach((m) => m.unsafeOffer(e))
const snapshot = () => ({
  status: session.turn ? "streaming" : "idle",
  activeTurnId: session.turn,
  queue: session.queue,
  historyCursor: { lastMessageId: history.at(-1)?.id ?? null, lastMessageAt: history.at(-1)?.createdAt ?? null }
})
const aside = (event) => publish({ _tag: "StreamEvent", turnId: session.turn, event })
const say = (event) => {
  session.buffer.push(event)
  aside(event)
}
const words = (text) => say({ type: "text-delta", id: "p", delta: text })

const finish = (finishReason) => {
  say({ type: "text-end", id: "p" })
  say({ type: "finish", finishReason })
  stop(finishReason === "stop" ? "completed" : "interrupted")
}

const kinds = () => {
  const providerMetadata = { anthropic: { signature: "x" } }
  const tool = (toolCallId, more) => {
    const called = { toolCallId, toolName: "Look", title: "Look at it", providerExecuted: true, dynamic: true, parentToolCallId: null }
    say({ type: "tool-input-start", ...called })
    say({ type: "tool-input-delta", toolCallId, inputTextDelta: '{"at"' })
    say({ type: "tool-input-delta", toolCallId, inputTextDelta: ':"it"}' })
    if (more.type !== "tool-input-error") say({ type: "tool-input-available", ...called, input: { at: "it" }, providerMetadata })
    else more = { ...called, input: { at: "it" }, ...more }
    say({ toolCallId, ...more })
  }
  say({ type: "start-step" })
  say({ type: "message-metadata", messageMetadata: { n: 1 } })
  say({ type: "reasoning-start", id: "r", providerMetadata })
  say({ type: "reasoning-delta", id: "r", delta: "hm", providerMetadata })
  say({ type: "reasoning-end", id: "r", providerMetadata })
  tool("k1", { type: "tool-output-available", output: "so", preliminary: true })
  say({ type: "tool-output-available", toolCallId: "k1", output: "so far", approval: { id: "a", approved: true, reason: "why not" } })
  tool("k2", { type: "tool-output-available", output: { rows: 3 }, providerExecuted: true, dynamic: true, parentToolCallId: "k1" })
  tool("k3", { type: "tool-output-error", errorText: "it broke" })
  tool("k4", { type: "tool-output-denied", parentToolCallId: null })
  tool("k5", { type: "tool-input-error", errorText: "bad input" })
  say({ type: "source-url", sourceId: "s1", url: "https://example.org", title: "Example", providerMetadata })
  say({ type: "source-document", sourceId: "s2", mediaType: "text/plain", title: "Notes", filename: "n.txt" })
  say({ type: "file", url: "data:text/plain,x", mediaType: "text/plain" })
  say({ type: "data-weather", id: "w", data: { sky: "clear" }, transient: false })
  say({ type: "metadata-update", model: "m", inputTokens: 5, outputTokens: 6, cacheReadInputTokens: 2, costUsd: 0.25 })
  aside({ type: "mode-change", mode: "plan" })
  aside({ type: "session-renamed", sessionId: "abc", title: "Every kind" })
  say({ type: "finish-step" })
  say({ type: "error", errorText: "overloaded" })
  say({ type: "abort", reason: "tired" })
  say({ type: "text-end", id: "p" })
  const used = { claudeSessionId: "c", costUsd: 0.5, inputTokens: 10, outputTokens: 20, cacheReadInputTokens: 3, cacheCreationInputTokens: 0 }
  say({ type: "finish", finishReason: "tool-calls", messageMetadata: { n: 2 }, metadata: { ...used, contextWindow: 200000 } })
  stop("completed")
}

const start = (message) => {
  session.turns++
  const startedAt = new Date().toISOString()
  session.turn = `turn-${session.turns}`
  session.buffer = []
  session.context = {
    turnId: session.turn, messageId: message.id, content: message.content, clientMessageId: message.clientMessageId, startedAt
  }
  publish({ _tag: "UserMessage", message })
  publish({ _tag: "SessionStarted", turnId: session.turn, messageId: message.id, startedAt })
  say({ type: "start", messageId: `answer-${session.turns}` })
  say({ type: "text-start", id: "p" })
  words("you said ")
  words(message.content)
  const toolCallId = `call-${session.turns}`
  if (message.content === "kinds") return kinds()
  if (message.content === "hang") return
  if (message.content === "ask") {
    say({ type: "tool-input-available", toolCallId, toolName: "Bash", input: { command: "rm -rf build" } })
    session.pending.push({ toolCallId, toolName: "Bash" })
    return aside({ type: "tool-approval-request", toolCallId, toolName: "Bash" })
  }
  if (message.content === "much") for (let i = 0; i < 4000; i++) words(`${i} `.padEnd(500, "x"))
  say({ type: "tool-input-available", toolCallId, toolName: "Bash", input: { command: "ls" } })
  say({ type: "tool-output-available", toolCallId, output: "a b c" })
  finish("stop")
}

// retold is what a finished turn's events come to.
const retold = () => {
  const parts = [{ type: "text", text: "", state: "done" }]
  for (const e of session.buffer) {
    const tool = parts.find((p) => p.toolCallId && p.toolCallId === e.toolCallId)
    if (e.type === "text-delta") parts[0].text += e.delta
    if (e.type === "tool-input-available") {
      parts.push({ type: `tool-${e.toolName}`, toolCallId: e.toolCallId, toolName: e.toolName, input: e.input, state: "input-available" })
    }
    if (e.type === "tool-output-available") Object.assign(tool, { state: "output-available", output: e.output })
    if (e.type === "tool-output-denied") Object.assign(tool, { state: "output-denied" })
  }
  return parts
}

const stop = (reason) => {
  const turnId = session.turn
  const { messageId, content, clientMessageId, startedAt } = session.context
  history.push(
    { id: messageId, role: "user", parts: [{ type: "text", text: content }], createdAt: startedAt, clientMessageId },
    { id: `answer-${session.turns}`, role: "assistant", parts: retold(), createdAt: new Date().toISOString() }
  )
  writeFileSync(file, JSON.stringify(history))
  Object.assign(session, { turn: null, context: undefined, buffer: [], pending: [] })
  publish({ _tag: "SessionStopped", turnId, reason })
  const next = session.queue.shift()
  if (next) {
    publish({ _tag: "MessageDequeued", messageId: next.id })
    start(next)
  }
}

const none = (sessionId) => (tags === "document" ? "SESSION_NOT_FOUND" : { _tag: "ChatSessionNotFoundRpcError", sessionId })
const found = (id, answer) => (id === "abc" ? Effect.sync(answer) : Effect.fail(none(id)))

let messages = history.length
const subscribe = ({ sessionId }) =>
  sessionId !== "abc" ? Effect.fail(none(sessionId)) : Effect.gen(function* () {
    const mailbox = yield* Mailbox.make()
    const { pending: pendingApprovals, context: turnContext } = session
    yield* mailbox.offer({ _tag: "InitialState", snapshot: snapshot(), buffer: [...session.buffer], turnContext, pendingApprovals: [...pendingApprovals] })
    session.readers.add(mailbox)
    yield* Effect.addFinalizer(() => Effect.sync(() => {
      session.readers.delete(mailbox)
      print({ tell: "streams", value: session.readers.size })
    }))
    return mailbox
  })
const send = ({ sessionId, content, clientMessageId }) =>
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
  })
const interrupt = ({ sessionId }) =>
  found(sessionId, () => {
    const interrupted = session.turn !== null
    if (interrupted) finish("other")
    return { interrupted }
  })
const dequeue = ({ sessionId, messageId }) =>
  found(sessionId, () => {
    const i = session.queue.findIndex((m) => m.id === messageId)
    if (i >= 0) {
      session.queue.splice(i, 1)
      publish({ _tag: "MessageDequeued", messageId })
    }
    return { removed: i >= 0 }
  })
const respond = ({ toolCallId, approved }) => {
  const i = session.pending.findIndex((p) => p.toolCallId === toolCallId)
  if (i < 0) return Effect.fail({ _tag: "ToolApprovalNotFoundRpcError", toolCallId })
  session.pending.splice(i, 1)
  say(approved ? { type: "tool-output-available", toolCallId, output: "removed" } : { type: "tool-output-denied", toolCallId })
  finish("stop")
  return Effect.succeed({ acknowledged: true })
}

const state = ({ sessionId }) => found(sessionId, snapshot)
const told = {
  "chat.subscribe": subscribe, "chat.send": send, "chat.interrupt": interrupt, "chat.dequeue": dequeue, "chat.getState": state,
  "chat.respondToToolApproval": respond
}
const [group, handlers] = {
  document: [document, {
    SubscribeSession: subscribe, SendMessage: send, Interrupt: interrupt, DequeueMessage: dequeue, GetSessionState: state
  }],
  untold: [untold, told],
  chat: [chat, { ...told, "chat.getHistory": ({ sessionId }) => found(sessionId, () => history) }]
}[tags]

const http = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, "http://server")
  if (tags !== "document" || pathname !== "/api/sessions/abc/messages") return response.writeHead(404).end()
  const after = history.findIndex((m) => m.id === searchParams.get("after"))
  response.setHeader("Content-Type", "application/json").end(JSON.stringify(history.slice(after + 1)))
})

const main = RpcServer.layer(group).pipe(
  Layer.provide(group.toLayer(handlers)),
  Layer.provide(RpcServer.layerProtocolSocketServer),
  Layer.merge(Layer.effectDiscard(
    Effect.flatMap(SocketServer.SocketServer, (s) => Effect.sync(() => print({ tell: "port", value: s.address.port })))
  )),
  Layer.provide(NodeSocketServer.layerWebSocket({ server: http.listen(Number(port), "127.0.0.1") })),
  Layer.provide(RpcSerialization.layerNdjson)
)

Effect.runPromise(Layer.launch(main)).catch((e) => {
  console.error(e)
  process.exit(1)
})
await obey({
  say: ({ text }) => words(text),
  fail: () => session.readers.forEach((m) => Effect.runSync(m.failCause(Cause.die("boom")))),
  end: () => finish("stop")
})
