// Sandcastle's requests and events, as its document defines them, with the fields and kinds that the real system adds.
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
const parent = { parentToolCallId: opt(Schema.NullOr(S)) }
const flags = { providerExecuted: opt(Schema.Boolean), dynamic: opt(Schema.Boolean) }
const called = { toolCallId: S, toolName: S, title: opt(S), ...flags, ...parent }
const spoken = (name) => [
  kind(`${name}-start`, { id: S, ...meta }),
  kind(`${name}-delta`, { id: S, delta: S, ...meta }),
  kind(`${name}-end`, { id: S, ...meta })
]

const ChatStreamEvent = Schema.Union(
  kind("start", { messageId: opt(S), messageMetadata: opt(any), claudeSessionId: opt(S) }),
  ...spoken("text"),
  ...spoken("reasoning"),
  kind("tool-input-start", called),
  kind("tool-input-delta", { toolCallId: S, inputTextDelta: S, ...parent }),
  kind("tool-input-available", { ...called, input: any, ...meta }),
  kind("tool-approval-request", { toolCallId: S, toolName: S, messageId: opt(S) }),
  kind("tool-output-available", { toolCallId: S, output: any, preliminary: opt(Schema.Boolean), ...flags, ...parent }),
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
  kind("metadata-update", { model: opt(S), inputTokens: opt(Schema.Number), outputTokens: opt(Schema.Number), costUsd: opt(Schema.Number) }),
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
    pendingApprovals: opt(Schema.Array(Schema.Struct({ toolCallId: S, toolName: S })))
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

export class SendMessage extends Schema.TaggedRequest()("SendMessage", {
  success: Schema.Struct({ status: Schema.Literal("started", "queued"), messageId: opt(S), queuedMessage: opt(QueuedMessage) }),
  failure: S,
  payload: { sessionId: S, content: S, parts: opt(Schema.Array(MessagePart)), clientMessageId: S }
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

export const group = RpcGroup.make(
  ...[SubscribeSession, SendMessage, Interrupt, DequeueMessage, GetSessionState].map((r) => Rpc.fromTaggedRequest(r))
)
