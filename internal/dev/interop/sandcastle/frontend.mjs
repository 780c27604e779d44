// A headless Sandcastle frontend: the engine of the useChat hook with the transport of transport.mjs
// and a session event handler. Verbs:
//   chat {chat, session}      creates an empty chat
//   load {chat}               loads finished turns newer than its last message from the history endpoint
//   follow {chat}             tracks the queue, the server's message ids, and other users' messages
//   send {chat, text}         sends a message; answers when the stream of its turn ends
//   resume {chat}             streams the current turn; answers when its stream ends
//   stop {chat}               interrupts the current turn
//   approve {chat, tool, approved, payload}
//   messages {chat}           returns everything it shows
// It reports each change of a chat.
import { AbstractChat, uiMessageChunkSchema } from "ai"
import { Effect, Stream } from "effect"
import { handleCommands, print } from "./commands.mjs"
import { connect } from "./connection.mjs"
import { chat as systemRequests, document } from "./schema.mjs"
import { RpcChatTransport } from "./transport.mjs"

const [url, http] = process.argv.slice(2)
const { rpc } = await connect(url, document.merge(systemRequests))

// State holds the messages of a chat for the hook.
class State {
  status = "ready"
  error = undefined
  list = []
  changed = () => {}
  get messages() {
    return this.list
  }
  set messages(list) {
    this.list = list
    this.changed()
  }
  pushMessage = (message) => (this.messages = [...this.list, message])
  popMessage = () => (this.messages = this.list.slice(0, -1))
  replaceMessage = (i, message) => (this.messages = this.list.with(i, structuredClone(message)))
  snapshot = structuredClone
}

// StrictTransport rejects chunks that the hook's own schema rejects.
class StrictTransport extends RpcChatTransport {
  streamToReadable(...args) {
    const { readable, active } = super.streamToReadable(...args)
    const check = new TransformStream({
      async transform(chunk, controller) {
        const { success, error } = await uiMessageChunkSchema().validate(chunk)
        if (!success) throw new Error(`invalid chunk: ${JSON.stringify(chunk)}: ${error}`)
        controller.enqueue(chunk)
      }
    })
    return { readable: readable.pipeThrough(check), active }
  }
}

const chats = {}

class Chat extends AbstractChat {
  constructor(name, sessionId) {
    const state = new State()
    const seen = { finished: [], data: 0, errors: [], queue: [], session: "" }
    super({
      id: sessionId, state, transport: new StrictTransport(rpc, sessionId),
      onFinish: ({ finishReason, isAbort, isError }) => {
        seen.finished.push(isAbort ? "abort" : isError ? "error" : (finishReason ?? "none"))
        this.report()
      },
      onData: () => seen.data++,
      onError: (error) => seen.errors.push(String(error.message))
    })
    Object.assign(this, { name, seen })
    state.changed = () => this.report()
  }

  // report prints a summary of the chat.
  report() {
    const parts = this.lastMessage?.parts ?? []
    print({
      report: this.name,
      value: {
        text: parts.filter((p) => p.type === "text").map((p) => p.text).join(""),
        tools: Object.fromEntries(parts.filter((p) => p.toolCallId).map((p) => [p.toolCallId, p.state])),
        count: this.messages.length, ...this.seen
      }
    })
  }

  // follow does what the hook useSessionEvents does: an own message gets the server's id, another
  // user's message is added and its turn streamed.
  follow() {
    const handle = (event) => {
      const { message } = event
      if (event._tag === "InitialState") Object.assign(this.seen, { queue: event.snapshot.queue, session: event.snapshot.status })
      if (event._tag === "SessionStopped") this.seen.session = "idle"
      if (event._tag === "MessageQueued") this.seen.queue = [...this.seen.queue, message]
      if (event._tag === "MessageDequeued") this.seen.queue = this.seen.queue.filter((m) => m.id !== event.messageId)
      if (event._tag === "UserMessage") this.accept(message)
      if (event._tag === "SessionStarted") {
        this.seen.session = "streaming"
        if (this.fromOther) this.resumeStream()
        this.fromOther = false
      }
      this.report()
    }
    Effect.runFork(Stream.runForEach(rpc.SubscribeSession({ sessionId: this.id }), (e) => Effect.sync(() => handle(e))))
  }

  accept({ id, content, parts, clientMessageId }) {
    const index = this.messages.findIndex((m) => m.id === clientMessageId)
    this.fromOther = index < 0
    const shown = { id, role: "user", parts: parts ?? [{ type: "text", text: content }] }
    this.messages = index < 0 ? [...this.messages, shown] : this.messages.with(index, shown)
  }

  async load() {
    const last = this.lastMessage?.id
    const all = await fetch(`${http}/api/sessions/${this.id}/messages${last ? `?after=${last}` : ""}`)
    const newer = await all.json()
    this.messages = [...this.messages, ...newer]
    return newer.length
  }
}

await handleCommands({
  chat: ({ chat, session }) => {
    chats[chat] = new Chat(chat, session)
  },
  load: ({ chat }) => chats[chat].load(),
  follow: ({ chat }) => chats[chat].follow(),
  send: ({ chat, text }) => chats[chat].sendMessage({ text }),
  resume: ({ chat }) => chats[chat].resumeStream(),
  stop: ({ chat }) => chats[chat].stop(),
  approve: async ({ chat, tool: toolCallId, approved, payload }) => {
    const part = chats[chat].lastMessage.parts.find((p) => p.toolCallId === toolCallId)
    await chats[chat].addToolApprovalResponse({ id: part.approval.id, approved })
    const response = { type: "tool-approval-response", toolCallId, toolName: part.toolName, approved, payload }
    return Effect.runPromise(rpc.chat.respondToToolApproval({ sessionId: chats[chat].id, response }))
  },
  messages: ({ chat }) => ({ status: chats[chat].status, messages: chats[chat].messages, ...chats[chat].seen })
})
