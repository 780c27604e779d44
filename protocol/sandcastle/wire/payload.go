package wire

import (
	"encoding/json"
)

// A Payload holds the fields of all requests.
type Payload struct {
	Tag             string          `json:"_tag,omitempty"`
	SessionID       string          `json:"sessionId,omitempty"`
	MessageID       string          `json:"messageId,omitempty"`
	Content         *string         `json:"content,omitempty"`
	Parts           json.RawMessage `json:"parts,omitempty"`
	ClientMessageID string          `json:"clientMessageId,omitempty"`
	Mode            string          `json:"mode,omitempty"` // plan or build
	AfterMessageID  string          `json:"afterMessageId,omitempty"`

	Response *ApprovalResponse `json:"response,omitempty"`
	Note     *Note             `json:"agentctl,omitempty"`
}

// A Note is agentctl's extension of a send: the key that makes it act once.
type Note struct {
	Key string `json:"key"`
}

// maxKey bounds a key, in bytes.
const maxKey = 128

// Key returns the key in the note; empty: none.
func (p *Payload) Key() string {
	if p.Note == nil || len(p.Note.Key) > maxKey {
		return ""
	}
	return p.Note.Key
}

// An ApprovalResponse is the answer to an approval.
type ApprovalResponse struct {
	Type       string          `json:"type"` // tool-approval-response
	ToolCallID string          `json:"toolCallId"`
	ToolName   string          `json:"toolName"`
	Approved   *bool           `json:"approved"`
	Payload    *ApprovalAnswer `json:"payload,omitempty"`
}

// DecodePayload decodes the payload of a request. The fields of an answer to an approval may be
// next to sessionId, as earlier versions of agentctl's clients send them.
func DecodePayload(raw json.RawMessage, op Operation) (p Payload, err error) {
	if err = json.Unmarshal(raw, &p); err != nil || op != OpApproval || p.Response != nil {
		return p, err
	}
	flat := new(ApprovalResponse)
	if err = json.Unmarshal(raw, flat); err == nil && flat.ToolCallID != "" {
		p.Response = flat
	}
	return p, err
}

// Types of an approval answer's payload.
const (
	answersPayload  = "AskUserQuestionPayload"
	FeedbackPayload = "ExitPlanModePayload"
)

// An ApprovalAnswer is the payload of an answer to a question or a plan.
type ApprovalAnswer struct {
	Type     string                     `json:"type"`
	Answers  map[string]json.RawMessage `json:"answers,omitempty"` // a string or several
	Feedback string                     `json:"feedback,omitempty"`
}

// MissingField returns a required field that is absent, or "".
func (p *Payload) MissingField(op Operation) string {
	switch {
	case op == OpApproval && p.Response == nil:
		return "response"
	case op == OpApproval && p.Response.ToolCallID == "":
		return "toolCallId"
	case op == OpApproval && p.Response.Approved == nil:
		return "approved"
	case op == OpApproval:
		return ""
	case p.SessionID == "":
		return "sessionId"
	case op == OpSend && p.Content == nil:
		return "content"
	case op == OpDequeue && p.MessageID == "":
		return "messageId"
	}
	return ""
}
