// Sandcastle's requests and events: those of its document, plus fields and kinds of the real system.
import { Rpc, RpcGroup, RpcSchema } from "@effect/rpc"
import { Schema } from "effect"

const S = Schema.String
const opt = Schema.optional
const any = Schema.Unknown

const MessagePart = Schema.Struct({ type: S }, Schema.Record({ key: S, value: any }))

const QueuedMessage = Schema.Struct({
  id: S, content: S, parts: opt(Schema.Array(MessagePart)), queuedAt: S, clientMessageId: opt(S)
})

const SessionSnapshot = Schema.Struct({
  status: Schema.Literal("idle", "streaming"),
  activeTurnId: Schema.NullOr(S),
  queue: Schema.Array(QueuedMessage),
  historyCursor: Schema.Struct({ lastMessageId: Schema.NullOr(S), lastMessageAt: Schema.NullOr(S) })
})

const kind = (type, fields = {}) => Schema.Struct({ type: Schema.Literal(type), ...fields })
const meta = { providerMetadata: opt(Schema.Record({ key: S, value: any })) }
const parent = { parentToolCallId: Schema.NullOr(S) }
const flags = { providerExecuted: opt(Schema.Boolean), dynamic: opt(Schema.Boolean) }
const called = { toolCallId: S, toolName: S, title: opt(S), ...flags, ...parent }
const streamed = (name) => [
  kind(`${name}-start`, { id: S, ...meta }),
  kind(`${name}-delta`, { id: S, delta: S, ...meta }),
  kind(`${name}-end`, { id: S, ...meta })
]

const ChatStreamEvent = Schema.Union(
  kind("start", { messageId: S, messageMetadata: opt(any), claudeSessionId: S }),
  ...streamed("text"),
  ...streamed("reasoning"),
  kind("tool-input-start", called),
  kind("tool-input-delta", { toolCallId: S, inputTextDelta: S, ...parent }),
  kind("tool-input-available", { ...called, input: any, ...meta }),
  kind("tool-input-error", { ...called, input: any, errorText: S, ...meta }),
  kind("tool-approval-request", { toolCallId: S, toolName: S, messageId: opt(S) }),
  kind("tool-output-available", {
    toolCallId: S, output: any, preliminary: opt(Schema.Boolean), ...flags, ...parent,
    approval: opt(Schema.Struct({ id: S, approved: opt(Schema.Boolean), reason: opt(S) }))
  }),
  kind("tool-output-error", { toolCallId: S, errorText: S, ...flags, ...parent }),
  kind("tool-output-denied", { toolCallId: S, ...parent }),
  kind("finish", {
    finishReason: opt(Schema.Literal("stop", "error", "length", "tool-calls", "content-filter", "other")),
    messageMetadata: opt(any),
    metadata: opt(Schema.Struct({
      claudeSessionId: S, costUsd: Schema.Number, inputTokens: Schema.Number, outputTokens: Schema.Number,
      cacheReadInputTokens: Schema.Number, cacheCreationInputTokens: Schema.Number, contextWindow: Schema.Number
    }))
  }),
  kind("metadata-update", {
    model: S, inputTokens: Schema.Number, outputTokens: Schema.Number, cacheReadInputTokens: Schema.Number,
    cacheCreationInputTokens: Schema.Number, costUsd: opt(Schema.Number)
  }),
  kind("source-url", { sourceId: S, url: S, title: opt(S), ...meta }),
  kind("source-document", { sourceId: S, mediaType: S, title: S, filename: opt(S), ...meta }),
  kind("file", { url: S, mediaType: S, ...meta }),
  kind("start-step"),
  kind("finish-step"),
  kind("message-metadata", { messageMetadata: any }),
  kind("error", { errorText: S }),
  kind("abort", { reason: opt(S) }),
  kind("mode-change", { mode: Schema.Literal("plan", "build") }),
  kind("session-renamed", { sessionId: S, title: S }),
  Schema.Struct({ type: Schema.TemplateLiteral("data-", Schema.String), id: opt(S), data: any, transient: opt(Schema.Boolean) })
)

const event = (tag, fields) => Schema.Struct({ _tag: Schema.Literal(tag), ...fields })

export const SessionEvent = Schema.Union(
  event("InitialState", {
    snapshot: SessionSnapshot,
    buffer: Schema.Array(ChatStreamEvent),
    turnContext: opt(Schema.Struct({
      turnId: S, messageId: S, content: S, parts: opt(Schema.Array(MessagePart)), clientMessageId: S, startedAt: S
    })),
    pendingApprovals: opt(Schema.Array(Schema.Struct({ toolCallId: S, toolName: S }))),
    usageMetadata: opt(any)
  }),
  event("SessionStarted", { turnId: S, messageId: S, startedAt: S }),
  event("SessionStopped", { turnId: S, reason: Schema.Literal("completed", "interrupted", "error") }),
  event("StreamEvent", { turnId: S, event: ChatStreamEvent }),
  event("MessageQueued", { message: QueuedMessage }),
  event("MessageDequeued", { messageId: S }),
  event("UserMessage", {
    message: Schema.Struct({ id: S, content: S, parts: opt(Schema.Array(MessagePart)), clientMessageId: S })
  }),
  event("SessionDeleted", { sessionId: S })
)

export class SubscribeSession extends Schema.TaggedRequest()("SubscribeSession", {
  success: RpcSchema.Stream({ success: SessionEvent, failure: Schema.Never }),
  failure: S,
  payload: { sessionId: S }
}) {}

const sendPayload = { sessionId: S, content: S, parts: opt(Schema.Array(MessagePart)), clientMessageId: S }

export class SendMessage extends Schema.TaggedRequest()("SendMessage", {
  success: Schema.Struct({ status: Schema.Literal("started", "queued"), messageId: opt(S), queuedMessage: opt(QueuedMessage) }),
  failure: S,
  payload: sendPayload
}) {}

export class Interrupt extends Schema.TaggedRequest()("Interrupt", {
  success: Schema.Struct({ interrupted: Schema.Boolean }), failure: S, payload: { sessionId: S }
}) {}

export class DequeueMessage extends Schema.TaggedRequest()("DequeueMessage", {
  success: Schema.Struct({ removed: Schema.Boolean }), failure: S, payload: { sessionId: S, messageId: S }
}) {}

export class GetSessionState extends Schema.TaggedRequest()("GetSessionState", {
  success: SessionSnapshot, failure: S, payload: { sessionId: S }
}) {}

// document holds the requests as the document names them.
export const document = RpcGroup.make(
  ...[SubscribeSession, SendMessage, Interrupt, DequeueMessage, GetSessionState].map((r) => Rpc.fromTaggedRequest(r))
)

const NotFound = Schema.Struct({ _tag: Schema.Literal("ChatSessionNotFoundRpcError"), sessionId: S })
const Failed = Schema.Struct({ _tag: Schema.Literal("ChatOperationRpcError"), message: S, code: opt(S) })
const NoApproval = Schema.Struct({ _tag: Schema.Literal("ToolApprovalNotFoundRpcError"), toolCallId: S })
const chatError = Schema.Union(NotFound, Failed)
const session = { sessionId: S }

const ChatMessage = Schema.Struct({
  id: S, sessionId: S, role: Schema.Literal("user", "assistant"), parts: Schema.Array(MessagePart), createdAt: S,
  clientMessageId: opt(S), metadata: opt(Schema.Struct({ claudeSessionId: S, model: S }, Schema.Record({ key: S, value: any })))
})

const response = Schema.Struct({
  type: Schema.Literal("tool-approval-response"), toolCallId: S, toolName: S, approved: Schema.Boolean,
  payload: opt(Schema.Union(
    Schema.Struct({
      type: Schema.Literal("AskUserQuestionPayload"),
      answers: Schema.Record({ key: S, value: Schema.Union(S, Schema.Array(S)) })
    }),
    Schema.Struct({ type: Schema.Literal("ExitPlanModePayload"), feedback: opt(S) })
  ))
})

// chat holds the requests as the real system names them; noHistory omits the history request.
const chatRequests = {
  subscribe: Rpc.make("chat.subscribe", { payload: session, success: SessionEvent, error: chatError, stream: true }),
  send: Rpc.make("chat.send", {
    payload: { ...sendPayload, mode: opt(Schema.Literal("plan", "build")) }, success: SendMessage.success, error: chatError
  }),
  interrupt: Rpc.make("chat.interrupt", { payload: session, success: Interrupt.success, error: chatError }),
  dequeue: Rpc.make("chat.dequeue", { payload: { ...session, messageId: S }, success: DequeueMessage.success, error: chatError }),
  state: Rpc.make("chat.getState", { payload: session, success: SessionSnapshot, error: chatError }),
  respond: Rpc.make("chat.respondToToolApproval", {
    payload: { ...session, response }, success: Schema.Struct({ acknowledged: Schema.Boolean }),
    error: Schema.Union(NotFound, Failed, NoApproval)
  })
}
export const noHistory = RpcGroup.make(...Object.values(chatRequests))
export const chat = noHistory.add(Rpc.make("chat.getHistory", {
  payload: { ...session, afterMessageId: opt(S), limit: opt(Schema.Number) },
  success: Schema.Struct({ messages: Schema.Array(ChatMessage) }), error: chatError
}))

// invalid holds requests that every Sandcastle server rejects: an unknown tag and a wrong payload.
export const invalid = RpcGroup.make(
  Rpc.make("chat.unheardOf", { success: any, error: any }),
  Rpc.make("chat.getState", { payload: { sessionId: Schema.Number }, success: any, error: any })
)
