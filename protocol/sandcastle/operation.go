package sandcastle

import (
	"encoding/json"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// An operation is a kind of request.
type operation int

const (
	opNone operation = iota
	opSubscribe
	opSend
	opInterrupt
	opDequeue
	opState
	opHistory
	opApproval
)

// A tagSet names the operations. The document and the real system use different tags and different
// errors.
type tagSet map[operation]string

var (
	documentTags = tagSet{
		opSubscribe: "SubscribeSession", opSend: "SendMessage", opInterrupt: "Interrupt", opDequeue: "DequeueMessage",
		opState: "GetSessionState",
	}
	chatTags = tagSet{
		opSubscribe: "chat.subscribe", opSend: "chat.send", opInterrupt: "chat.interrupt", opDequeue: "chat.dequeue",
		opState: "chat.getState", opHistory: "chat.getHistory", opApproval: "chat.respondToToolApproval",
	}
)

// operationOf returns the operation of a tag, and whether its errors are typed.
func operationOf(name string) (op operation, typed bool) {
	for op, tag := range documentTags {
		if tag == name {
			return op, false
		}
	}
	for op, tag := range chatTags {
		if tag == name {
			return op, true
		}
	}
	return opNone, false
}

// A payload holds the fields of all requests.
type payload struct {
	Tag             string          `json:"_tag,omitempty"`
	SessionID       string          `json:"sessionId,omitempty"`
	MessageID       string          `json:"messageId,omitempty"`
	Content         *string         `json:"content,omitempty"`
	Parts           json.RawMessage `json:"parts,omitempty"`
	ClientMessageID string          `json:"clientMessageId,omitempty"`
	Mode            string          `json:"mode,omitempty"` // plan or build
	AfterMessageID  string          `json:"afterMessageId,omitempty"`

	Response *approvalResponse `json:"response,omitempty"`
	Note     *note             `json:"agentctl,omitempty"`
}

// A note is agentctl's extension of a send: the key that makes it act once.
type note struct {
	Key string `json:"key"`
}

// maxKey bounds a key, in bytes.
const maxKey = 128

// key returns the key in the note; empty: none.
func (p *payload) key() string {
	if p.Note == nil || len(p.Note.Key) > maxKey {
		return ""
	}
	return p.Note.Key
}

// An approvalResponse is the answer to an approval.
type approvalResponse struct {
	Type       string          `json:"type"` // tool-approval-response
	ToolCallID string          `json:"toolCallId"`
	ToolName   string          `json:"toolName"`
	Approved   *bool           `json:"approved"`
	Payload    *approvalAnswer `json:"payload,omitempty"`
}

// decodePayload decodes the payload of a request. The fields of an answer to an approval may stand
// beside sessionId, as in clients of agentctl's earlier versions.
func decodePayload(raw json.RawMessage, op operation) (p payload, err error) {
	if err = json.Unmarshal(raw, &p); err != nil || op != opApproval || p.Response != nil {
		return p, err
	}
	flat := new(approvalResponse)
	if err = json.Unmarshal(raw, flat); err == nil && flat.ToolCallID != "" {
		p.Response = flat
	}
	return p, err
}

// Types of an approval answer's payload.
const (
	answersPayload  = "AskUserQuestionPayload"
	feedbackPayload = "ExitPlanModePayload"
)

// An approvalAnswer is the payload of an answer to a question or a plan.
type approvalAnswer struct {
	Type     string                     `json:"type"`
	Answers  map[string]json.RawMessage `json:"answers,omitempty"` // a string or several
	Feedback string                     `json:"feedback,omitempty"`
}

// missingField returns a required field that is absent, or "".
func (p *payload) missingField(op operation) string {
	switch {
	case op == opApproval && p.Response == nil:
		return "response"
	case op == opApproval && p.Response.ToolCallID == "":
		return "toolCallId"
	case op == opApproval && p.Response.Approved == nil:
		return "approved"
	case op == opApproval:
		return ""
	case p.SessionID == "":
		return "sessionId"
	case op == opSend && p.Content == nil:
		return "content"
	case op == opDequeue && p.MessageID == "":
		return "messageId"
	}
	return ""
}

// Results of the requests.
type (
	sendResult struct {
		Status        string         `json:"status"`
		MessageID     string         `json:"messageId,omitempty"`
		QueuedMessage *queuedMessage `json:"queuedMessage,omitempty"`
	}
	interruptResult struct {
		Interrupted bool `json:"interrupted"`
	}
	dequeueResult struct {
		Removed bool `json:"removed"`
	}
	approvalResult struct {
		Acknowledged bool `json:"acknowledged"`
	}
)

// Typed errors of the real system.
const (
	sessionNotFound   = "ChatSessionNotFoundRpcError"
	operationFailed   = "ChatOperationRpcError"
	approvalNotFound  = "ToolApprovalNotFoundRpcError"
	noSessionDocument = "SESSION_NOT_FOUND"
)

// A typedError is an error of the real system.
type typedError struct {
	SessionID  string `json:"sessionId,omitempty"`
	ToolCallID string `json:"toolCallId,omitempty"`
	Message    string `json:"message,omitempty"`
	Code       string `json:"code,omitempty"`
	Tag        string `json:"_tag"`
}

// foreignError encodes a native error for a tag set.
func foreignError(e *protocol.Error, p *payload, op operation, typed bool) any {
	code := strings.ToUpper(string(e.Code))
	switch {
	case e.Code == protocol.CodeNoSession && !typed:
		return noSessionDocument
	case !typed:
		return code
	case op == opApproval && (e.Code == protocol.CodeNoSession || e.Code == protocol.CodeNotFound ||
		e.Code == protocol.CodeConflict):
		return typedError{ToolCallID: p.Response.ToolCallID, Tag: approvalNotFound}
	case e.Code == protocol.CodeNoSession:
		return typedError{SessionID: p.SessionID, Tag: sessionNotFound}
	}
	return typedError{Message: e.Message, Code: code, Tag: operationFailed}
}

// nativeError decodes an error of either tag set.
func nativeError(raw json.RawMessage) *protocol.Error {
	s := codec.String(raw)
	var t typedError
	_ = json.Unmarshal(raw, &t)
	switch {
	case s == noSessionDocument, t.Tag == sessionNotFound:
		return protocol.Errorf(protocol.CodeNoSession, "no such session")
	case t.Tag == approvalNotFound:
		return protocol.Errorf(protocol.CodeNotFound, "no such request is pending")
	case s != "":
		return protocol.Errorf(nativeCode(s), "the server refused: %.200s", s)
	case t.Message != "":
		return protocol.Errorf(nativeCode(t.Code), "%.500s", t.Message)
	}
	return protocol.Errorf(protocol.CodeInternal, "the server refused without a reason")
}

// nativeCode returns the native code that agentctl's server sent in capitals, or internal.
func nativeCode(code string) protocol.Code {
	switch c := protocol.Code(strings.ToLower(code)); c {
	case protocol.CodeSessionClosed, protocol.CodeForbidden, protocol.CodeTooLarge, protocol.CodeTooMany,
		protocol.CodeQueueFull, protocol.CodeStorage, protocol.CodeInvalidMessage, protocol.CodeAmbiguous,
		protocol.CodeNoAgent, protocol.CodeUnsupported, protocol.CodeNotFound,
		protocol.CodeCorrupt:
		return c
	}
	return protocol.CodeInternal
}
