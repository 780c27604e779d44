// The frontend half of Sandcastle's document: a ChatTransport for the useChat hook over the RPC
// library's connection.
import { Effect, Stream } from "effect"

export class RpcChatTransport {
  // A resumed stream starts at the beginning of the turn.
  resumeStreamIsReplay = true

  constructor(rpc, sessionId) {
    this.rpc = rpc
    this.sessionId = sessionId
  }

  subscribe() {
    return this.rpc.SubscribeSession({ sessionId: this.sessionId })
  }

  // sendMessages sends the last message and streams its turn, which may be queued. It opens the stream
  // first, or a short turn could end before.
  async sendMessages({ messages, abortSignal }) {
    const last = messages[messages.length - 1]
    const content = last.parts.filter((p) => p.type === "text").map((p) => p.text).join("")
    const { readable, active } = this.streamToReadable(abortSignal, last.id)
    await active
    await Effect.runPromise(
      this.rpc.SendMessage({ sessionId: this.sessionId, content, parts: last.parts, clientMessageId: last.id })
    )
    return readable
  }

  // reconnectToStream streams the current turn from its beginning, or returns null if there is none.
  async reconnectToStream({ abortSignal }) {
    const { readable, active } = this.streamToReadable(abortSignal)
    if (await active.catch(() => false)) return readable
    await readable.cancel()
    return null
  }

  // streamToReadable streams one turn: the turn of the given message, or else the current one.
  streamToReadable(abortSignal, clientMessageId) {
    let turnId = null
    let sawFinish = false
    let over = false
    let stop
    let activate
    const active = new Promise((resolve, reject) => (activate = { resolve, reject }))
    const readable = new ReadableStream({
      start: (controller) => {
        const close = () => {
          if (over) return
          over = true
          controller.close()
          stop?.abort()
        }
        const put = (event) => {
          const chunk = mapToChunk(event)
          if (!chunk || over) return
          if (chunk.type === "finish") sawFinish = true
          controller.enqueue(chunk)
        }
        abortSignal?.addEventListener("abort", async () => {
          await Effect.runPromise(this.rpc.Interrupt({ sessionId: this.sessionId }))
          close()
        })
        let matched = !clientMessageId
        const handle = (event) => {
          switch (event._tag) {
            case "InitialState": {
              const { snapshot, buffer, pendingApprovals = [] } = event
              activate.resolve(snapshot.status === "streaming" || buffer.length > 0)
              if (!matched) return
              turnId = snapshot.activeTurnId
              buffer.forEach(put)
              pendingApprovals.forEach((p) => put({ type: "tool-approval-request", ...p }))
              return
            }
            case "UserMessage":
              matched ||= event.message.clientMessageId === clientMessageId
              return
            case "SessionStarted":
              if (matched && clientMessageId) turnId ??= event.turnId
              return
            case "StreamEvent":
              if (event.turnId === turnId) put(event.event)
              return
            case "SessionStopped":
              if (event.turnId !== turnId) return
              if (!sawFinish) put({ type: "finish", finishReason: event.reason === "completed" ? "stop" : "error" })
              close()
          }
        }
        stop = new AbortController()
        Effect.runPromise(Stream.runForEach(this.subscribe(), (e) => Effect.sync(() => handle(e))), { signal: stop.signal }).then(
          close,
          (error) => {
            activate.reject(error)
            if (over) return
            over = true
            controller.error(error)
          }
        )
      },
      cancel: () => {
        over = true
        stop?.abort()
      }
    })
    return { readable, active }
  }
}

// chunkFields lists the fields of each event kind that the hook accepts.
const tool = ["toolCallId", "toolName", "title", "providerExecuted", "dynamic"]
const chunkFields = {
  start: ["messageId", "messageMetadata"],
  "text-start": ["id", "providerMetadata"],
  "text-delta": ["id", "delta", "providerMetadata"],
  "text-end": ["id", "providerMetadata"],
  "reasoning-start": ["id", "providerMetadata"],
  "reasoning-delta": ["id", "delta", "providerMetadata"],
  "reasoning-end": ["id", "providerMetadata"],
  "tool-input-start": tool,
  "tool-input-delta": ["toolCallId", "inputTextDelta"],
  "tool-input-available": [...tool, "input", "providerMetadata"],
  "tool-output-available": ["toolCallId", "output", "providerExecuted", "dynamic", "preliminary"],
  "tool-output-error": ["toolCallId", "errorText", "providerExecuted", "dynamic"],
  "tool-output-denied": ["toolCallId"],
  error: ["errorText"],
  finish: ["finishReason", "messageMetadata"]
}

// mapToChunk converts a chat event to the hook's chunk, or returns null if it has none.
export const mapToChunk = (event) => {
  const { type } = event
  if (type === "tool-approval-request") return { type, approvalId: event.toolCallId, toolCallId: event.toolCallId }
  if (type.startsWith("data-")) return event
  if (!chunkFields[type]) return null
  return { type, ...Object.fromEntries(chunkFields[type].filter((f) => event[f] !== undefined).map((f) => [f, event[f]])) }
}
