package multiagenttest

// The examples of the document, verbatim.
const (
	PingExample  = `{ "type": "PING" }`
	StartExample = `{
  "type": "start_conversation",
  "payload": {
    "domainId": "software_development"
  }
}`
	StartedExample = `{
  "type": "conversation_started",
  "payload": {
    "conversationId": "uuid",
    "domainId": "software_development",
    "activeAgent": "agent_id"
  }
}`
	SendExample = `{
  "type": "send_message",
  "conversationId": "uuid",
  "payload": {
    "content": "Hello, help me with..."
  }
}`
	CancelExample = `{
  "type": "cancel_stream",
  "conversationId": "uuid"
}`
	ApproveExample = `{
  "type": "approve_tool",
  "conversationId": "uuid",
  "requestId": "uuid",
  "payload": {
    "approved": true,
    "reason": "optional rejection reason"
  }
}`
	PongExample  = `{ "type": "PONG" }`
	ChunkExample = `{
  "type": "message_chunk",
  "conversationId": "uuid",
  "payload": {
    "messageId": "uuid",
    "chunk": "partial text",
    "agentName": "Agent Name"
  }
}`
	CompleteExample = `{
  "type": "message_complete",
  "conversationId": "uuid",
  "payload": {
    "messageId": "uuid",
    "content": "full response text",
    "agentName": "Agent Name",
    "metadata": {
      "tokenCount": 150,
      "durationMs": 2500
    }
  }
}`
	ApprovalExample = `{
  "type": "tool_approval_required",
  "conversationId": "uuid",
  "payload": {
    "requestId": "uuid",
    "toolName": "Tool Name",
    "toolArgs": {},
    "description": "Tool description",
    "agentName": "Agent Name"
  }
}`
	ExecutedExample = `{
  "type": "tool_executed",
  "conversationId": "uuid",
  "payload": {
    "requestId": "uuid",
    "toolName": "Tool Name",
    "result": {},
    "success": true,
    "errorMessage": null
  }
}`
	ErrorExample = `{
  "type": "error",
  "conversationId": "uuid",
  "error": "Error message",
  "payload": {
    "code": "error_code",
    "message": "Error message"
  }
}`
)
