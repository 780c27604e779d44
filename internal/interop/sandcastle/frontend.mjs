// A frontend of Sandcastle without the screen: the engine of the hook useChat, the transport beside this file, and what follows a
// session beside it. Verbs:
//   chat {chat, session}      another one, empty
//   load {chat}               the finished turns that are newer than its last message, from the history endpoint
//   follow {chat}             the queue, the server's ids, and what others send
//   send {chat, text}         a message; answered when the stream of its turn is over
//   resume {chat}             the turn under way; answered when its stream is over
//   stop {chat}
//   approve {chat, tool, approved, payload}
//   messages {chat}           all that it shows
// It tells of each chat what changes.
import { AbstractChat, uiMessageChunkSchema } from "ai"
import { Effect, Stream } from "effect"
import { obey, print } from "./console.mjs"
import { link } from "./link.mjs"
import { chat as real, document } from "./schema.mjs"
import { RpcChatTransport } from "./transport.mjs"

const [url, http] = process.argv.slice(2)
const { rpc } = await link(url, document.merge(real))

// A State is what the screen would show.
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

// A Strict transport hands on only what the hook's own schema takes.
class Strict extends RpcChatTransport {
  streamToReadable(...args) {
    const { readable, active } = super.streamToReadable(...args)
    const check = new TransformStream({
      async transform(chunk, controller) {
        const { success, error } = await uiMessageChunkSchema().validate(chunk)
        if (!success) throw new Error(`not a chunk: ${JSON.stringify(chunk)}: ${error}`)
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
      id: sessionId, state, transport: new Strict(rpc, sessionId),
      onFinish: ({ finishReason, isAbort, isError }) => {
        seen.finished.push(isAbort ? "abort" : isError ? "error" : (finishReason ?? "none"))
        this.tell()
      },
      onData: () => seen.data++,
      onError: (error) => seen.errors.push(String(error.message))
    })
    Object.assign(this, { name, seen })
    state.changed = () => this.tell()
  }

  // tell says in short what it shows.
  tell() {
    const parts = this.lastMessage?.parts ?? []
    print({
      tell: this.name,
      value: {
        text: parts.filter((p) => p.type === "text").map((p) => p.text).join(""),
        tools: Object.fromEntries(parts.filter((p) => p.toolCallId).map((p) => [p.toolCallId, p.state])),
        count: this.messages.length, ...this.seen
      }
    })
  }

  // follow is the hook useSessionEvents: a message of ours gets the server's id, one of others is added and its turn streamed.
  follow() {
    const take = (event) => {
      const { message } = event
      if (event._tag === "InitialState") Object.assign(this.seen, { queue: event.snapshot.queue, session: event.snapshot.status })
      if (event._tag === "SessionStopped") this.seen.session = "idle"
      if (event._tag === "MessageQueued") this.seen.queue = [...this.seen.queue, message]
      if (event._tag === "MessageDequeued") this.seen.queue = this.seen.queue.filter((m) => m.id !== event.messageId)
      if (event._tag === "UserMessage") this.accept(message)
      if (event._tag === "SessionStarted") {
        this.seen.session = "streaming"
        if (this.theirs) this.resumeStream()
        this.theirs = false
      }
      this.tell()
    }
    Effect.runFork(Stream.runForEach(rpc.SubscribeSession({ sessionId: this.id }), (e) => Effect.sync(() => take(e))))
  }

  accept({ id, content, parts, clientMessageId }) {
    const mine = this.messages.findIndex((m) => m.id === clientMessageId)
    this.theirs = mine < 0
    const shown = { id, role: "user", parts: parts ?? [{ type: "text", text: content }] }
    this.messages = mine < 0 ? [...this.messages, shown] : this.messages.with(mine, shown)
  }

  async load() {
    const last = this.lastMessage?.id
    const all = await fetch(`${http}/api/sessions/${this.id}/messages${last ? `?after=${last}` : ""}`)
    const newer = await all.json()
    this.messages = [...this.messages, ...newer]
    return newer.length
  }
}

await obey({
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
    const answer = { type: "tool-approval-response", toolCallId, toolName: part.toolName, approved, payload }
    return Effect.runPromise(rpc.chat.respondToToolApproval(answer))
  },
  messages: ({ chat }) => ({ status: chats[chat].status, messages: chats[chat].messages, ...chats[chat].seen })
})
