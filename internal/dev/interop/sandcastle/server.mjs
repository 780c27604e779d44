// A Sandcastle server with one session, "abc". Arguments: the port (0: any), its request set
// (document; chat; or nohistory: chat without the history request), and a file for the finished
// turns. With the document's requests the history is read over HTTP.
//
// The agent answers "hello", writes 2 MB on "much", requests an approval on "ask", emits every event
// kind on "kinds", and on "hang" works until interrupted. Verbs:
//   say {text}   adds text to the current turn
//   fail {}      fails every stream with a defect, which ends all requests of its connection
//   end {}       ends the current turn
// It reports its port, and the number of streams whenever one ends.
import * as NodeSocketServer from "@effect/platform-node/NodeSocketServer"
import { SocketServer } from "@effect/platform"
import { RpcSerialization, RpcServer } from "@effect/rpc"
import { Cause, Effect, Layer, Mailbox } from "effect"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { handleCommands, print } from "./commands.mjs"
import { chat, document, noHistory } from "./schema.mjs"

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
const publishUnbuffered = (event) => publish({ _tag: "StreamEvent", turnId: session.turn, event })
const emit = (event) => {
  if (event.type === "start") event = { claudeSessionId: "c", ...event }
  if (event.type.startsWith("tool-")) event = { parentToolCallId: null, ...event }
  session.buffer.push(event)
  publishUnbuffered(event)
}
const emitText = (text) => emit({ type: "text-delta", id: "p", delta: text })

const finish = (finishReason) => {
  emit({ type: "text-end", id: "p" })
  emit({ type: "finish", finishReason })
  stop(finishReason === "stop" ? "completed" : "interrupted")
}

const emitKinds = () => {
  const providerMetadata = { anthropic: { signature: "x" } }
  const tool = (toolCallId, more) => {
    const called = { toolCallId, toolName: "Look", title: "Look at it", providerExecuted: true, dynamic: true, parentToolCallId: null }
    emit({ type: "tool-input-start", ...called })
    emit({ type: "tool-input-delta", toolCallId, inputTextDelta: '{"at"' })
    emit({ type: "tool-input-delta", toolCallId, inputTextDelta: ':"it"}' })
    if (more.type !== "tool-input-error") emit({ type: "tool-input-available", ...called, input: { at: "it" }, providerMetadata })
    else more = { ...called, input: { at: "it" }, ...more }
    emit({ toolCallId, ...more })
  }
  emit({ type: "start-step" })
  emit({ type: "message-metadata", messageMetadata: { n: 1 } })
  emit({ type: "reasoning-start", id: "r", providerMetadata })
  emit({ type: "reasoning-delta", id: "r", delta: "hm", providerMetadata })
  emit({ type: "reasoning-end", id: "r", providerMetadata })
  tool("k1", { type: "tool-output-available", output: "so", preliminary: true })
  emit({ type: "tool-output-available", toolCallId: "k1", output: "so far", approval: { id: "a", approved: true, reason: "why not" } })
  tool("k2", { type: "tool-output-available", output: { rows: 3 }, providerExecuted: true, dynamic: true, parentToolCallId: "k1" })
  tool("k3", { type: "tool-output-error", errorText: "it broke" })
  tool("k4", { type: "tool-output-denied", parentToolCallId: null })
  tool("k5", { type: "tool-input-error", errorText: "bad input" })
  emit({ type: "source-url", sourceId: "s1", url: "https://example.org", title: "Example", providerMetadata })
  emit({ type: "source-document", sourceId: "s2", mediaType: "text/plain", title: "Notes", filename: "n.txt" })
  emit({ type: "file", url: "data:text/plain,x", mediaType: "text/plain" })
  emit({ type: "data-weather", id: "w", data: { sky: "clear" }, transient: false })
  const count = { inputTokens: 5, outputTokens: 6, cacheReadInputTokens: 2, cacheCreationInputTokens: 0 }
  emit({ type: "metadata-update", model: "m", ...count, costUsd: 0.25 })
  publishUnbuffered({ type: "mode-change", mode: "plan" })
  publishUnbuffered({ type: "session-renamed", sessionId: "abc", title: "Every kind" })
  emit({ type: "finish-step" })
  emit({ type: "error", errorText: "overloaded" })
  emit({ type: "abort", reason: "tired" })
  emit({ type: "text-end", id: "p" })
  const used = { claudeSessionId: "c", costUsd: 0.5, inputTokens: 10, outputTokens: 20, cacheReadInputTokens: 3, cacheCreationInputTokens: 0 }
  emit({ type: "finish", finishReason: "tool-calls", messageMetadata: { n: 2 }, metadata: { ...used, contextWindow: 200000 } })
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
  emit({ type: "start", messageId: `answer-${session.turns}` })
  emit({ type: "text-start", id: "p" })
  emitText("you said ")
  emitText(message.content)
  const toolCallId = `call-${session.turns}`
  if (message.content === "kinds") return emitKinds()
  if (message.content === "hang") return
  if (message.content === "ask") {
    emit({ type: "tool-input-available", toolCallId, toolName: "Bash", input: { command: "rm -rf build" } })
    session.pending.push({ toolCallId, toolName: "Bash" })
    return publishUnbuffered({ type: "tool-approval-request", toolCallId, toolName: "Bash" })
  }
  if (message.content === "much") for (let i = 0; i < 4000; i++) emitText(`${i} `.padEnd(500, "x"))
  emit({ type: "tool-input-available", toolCallId, toolName: "Bash", input: { command: "ls" } })
  emit({ type: "tool-output-available", toolCallId, output: "a b c" })
  finish("stop")
}

// messageParts reduces the events of a finished turn to message parts.
const messageParts = () => {
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
    { id: `answer-${session.turns}`, role: "assistant", parts: messageParts(), createdAt: new Date().toISOString() }
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

const notFound = (sessionId) => (tags === "document" ? "SESSION_NOT_FOUND" : { _tag: "ChatSessionNotFoundRpcError", sessionId })
const withSession = (id, answer) => (id === "abc" ? Effect.sync(answer) : Effect.fail(notFound(id)))

let messages = history.length
const subscribe = ({ sessionId }) =>
  sessionId !== "abc" ? Effect.fail(notFound(sessionId)) : Effect.gen(function* () {
    const mailbox = yield* Mailbox.make()
    const { pending: pendingApprovals, context: turnContext } = session
    yield* mailbox.offer({ _tag: "InitialState", snapshot: snapshot(), buffer: [...session.buffer], turnContext, pendingApprovals: [...pendingApprovals] })
    session.readers.add(mailbox)
    yield* Effect.addFinalizer(() => Effect.sync(() => {
      session.readers.delete(mailbox)
      print({ report: "streams", value: session.readers.size })
    }))
    return mailbox
  })
const send = ({ sessionId, content, clientMessageId }) =>
  withSession(sessionId, () => {
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
  withSession(sessionId, () => {
    const interrupted = session.turn !== null
    if (interrupted) finish("other")
    return { interrupted }
  })
const dequeue = ({ sessionId, messageId }) =>
  withSession(sessionId, () => {
    const i = session.queue.findIndex((m) => m.id === messageId)
    if (i >= 0) {
      session.queue.splice(i, 1)
      publish({ _tag: "MessageDequeued", messageId })
    }
    return { removed: i >= 0 }
  })
const respond = ({ response: { toolCallId, approved } }) => {
  const i = session.pending.findIndex((p) => p.toolCallId === toolCallId)
  if (i < 0) return Effect.fail({ _tag: "ToolApprovalNotFoundRpcError", toolCallId })
  session.pending.splice(i, 1)
  emit(approved ? { type: "tool-output-available", toolCallId, output: "removed" } : { type: "tool-output-denied", toolCallId })
  finish("stop")
  return Effect.succeed({ acknowledged: true })
}

const state = ({ sessionId }) => withSession(sessionId, snapshot)
const chatHandlers = {
  "chat.subscribe": subscribe, "chat.send": send, "chat.interrupt": interrupt, "chat.dequeue": dequeue, "chat.getState": state,
  "chat.respondToToolApproval": respond
}
const [group, handlers] = {
  document: [document, {
    SubscribeSession: subscribe, SendMessage: send, Interrupt: interrupt, DequeueMessage: dequeue, GetSessionState: state
  }],
  nohistory: [noHistory, chatHandlers],
  chat: [chat, { ...chatHandlers, "chat.getHistory": ({ sessionId }) => withSession(sessionId, () => ({ messages: history.map((m) => ({ ...m, sessionId })) })) }]
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
    Effect.flatMap(SocketServer.SocketServer, (s) => Effect.sync(() => print({ report: "port", value: s.address.port })))
  )),
  Layer.provide(NodeSocketServer.layerWebSocket({ server: http.listen(Number(port), "127.0.0.1") })),
  Layer.provide(RpcSerialization.layerNdjson)
)

Effect.runPromise(Layer.launch(main)).catch((e) => {
  console.error(e)
  process.exit(1)
})
await handleCommands({
  say: ({ text }) => emitText(text),
  fail: () => session.readers.forEach((m) => Effect.runSync(m.failCause(Cause.die("boom")))),
  end: () => finish("stop")
})
