package replay

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/sandcastle"
)

// sandcastleDialect describes Sandcastle.
func sandcastleDialect() *Dialect {
	return &Dialect{
		Dialect: sandcastle.Dialect,
		Grammar: Grammar{
			Split: func() func(Direction, []any) []Message {
				return (&sandcastleSplitter{tags: map[string]string{}}).split
			},
			OpenKeys:   func(_, path string) bool { return strings.HasSuffix(path, ".answers") },
			TypeFields: []string{"_tag", "type"},
			IDs: []string{
				"id", "requestId", "sessionId", "messageId", "turnId", "clientMessageId", "toolCallId",
				"parentToolCallId", "activeTurnId", "lastMessageId", "afterMessageId", "claudeSessionId",
			},
			LocalIDs: isNumber,
		},
		Opened:  func(*ClientConn) {},
		Cause:   causeSandcastle,
		History: true,
		Settle:  5 * time.Second, // less than until the client's first ping
		Serve:   serveSandcastle,
		Before:  beforeSandcastle,
		Awaited: awaitedSandcastle,
		Ack: func(c *Conversation, m Message) string {
			if m.Type != "Chunk" || lateAcks(c) {
				return ""
			}
			chunk := m.Value.(map[string]any)
			return fmt.Sprintf("{\"_tag\":\"Ack\",\"requestId\":%q}\n", chunk["requestId"])
		},
		IsAck: func(c *Conversation, m Message) bool { return m.Type == "Ack" && !lateAcks(c) },
		SameClient: func(c *Conversation) bool {
			return strings.Contains(c.Scenario, "reconnect")
		},
		Own: ownSandcastle(), Exceptions: exceptionsSandcastle(), Silent: silentSandcastle(),
		Unasked: map[string]string{
			"Exit/chat.getHistory/Success":         "no recorded client joins a session with finished turns",
			"Exit/chat.respondToToolApproval/Fail": "in no recording a client answers what it believes to be pending",
		},
	}
}

// lateAcks reports whether the acknowledgements of a conversation are what it is about.
func lateAcks(c *Conversation) bool { return c.Scenario == "no-ack" }

func isNumber(id string) bool {
	_, err := strconv.ParseUint(id, 10, 64)
	return err == nil
}

// causeSandcastle gives the command of a recorded request. It leaves out requests that agentctl's
// client answers itself, and those about sessions that it does not follow.
func causeSandcastle(c *ClientConn, m Message) bool {
	var r sandcastleRequest
	_ = json.Unmarshal(protocol.MustEncode(m.Value), &r)
	p := &r.Payload
	followed := c.Subscribed(p.SessionID)
	switch m.Type {
	case "Request/chat.subscribe":
		if followed {
			return false
		}
		c.Subscribe(p.SessionID)
	case "Request/chat.send":
		if !followed || c.State(p.SessionID) == nil {
			return false
		}
		c.Do(protocol.DoSend, p.SessionID, protocol.SendData{Text: p.Content})
	case "Request/chat.interrupt":
		c.Do(protocol.DoInterrupt, p.SessionID, protocol.InterruptData{})
	case "Request/chat.dequeue":
		c.Do(protocol.DoQueueRemove, p.SessionID, protocol.QueueRemoveData{MessageID: p.MessageID})
	case "Request/chat.respondToToolApproval":
		s := c.State(p.SessionID)
		pending := followed && s != nil && s.PendingApproval(p.Response.ToolCallID) != nil
		c.Do(protocol.DoApprove, p.SessionID, p.Response.decision())
		return pending
	case "Interrupt":
		if len(c.order) == 0 {
			return false
		}
		c.Unsubscribe(c.order[0])
	case "Request/chat.getHistory":
		return c.Sent(m.Type) // asks when it subscribes
	case "Ack":
		return c.Known(r.RequestID)
	case "Ping":
	default:
		return false
	}
	return true
}

// A sandcastleRequest is a request of a recorded client, or another message of it.
type sandcastleRequest struct {
	ID        string
	RequestID string
	Tag       string
	Payload   struct {
		ID        string // of session.*
		SessionID string
		MessageID string
		Content   string
		Input     struct{ Title string } // of session.update
		Response  sandcastleResponse
	}
}

// A sandcastleResponse is the answer to an approval.
type sandcastleResponse struct {
	ToolCallID string
	Approved   bool
	Payload    struct {
		Answers  map[string]any
		Feedback string
	}
}

func (r *sandcastleResponse) decision() protocol.ApproveData {
	d := protocol.ApproveData{Request: r.ToolCallID, Decision: protocol.Deny, Reason: r.Payload.Feedback}
	if r.Approved {
		d.Decision = protocol.AllowOnce
	}
	if len(r.Payload.Answers) > 0 {
		d.Input = &protocol.ApprovalInput{Answers: map[string][]string{}}
	}
	for question, answer := range r.Payload.Answers {
		var answers []string
		raw := protocol.MustEncode(answer)
		if json.Unmarshal(raw, &answers) != nil {
			answers = []string{answer.(string)}
		}
		d.Input.Answers[question] = answers
	}
	return d
}

// awaitedSandcastle leaves out messages that depend on how events are batched, and those of
// requests that agentctl's server answers otherwise: docs/dialects/sandcastle.md.
func awaitedSandcastle(c *Conversation, m Message) bool {
	switch m.Type {
	case "Chunk", "StreamEvent": // the values are messages of their own
		return false
	case "Defect/Unknown request tag": // ends the request alone
		return false
	case "Defect/SyntaxError again": // the connection goes on
		return false
	}
	request, ok := strings.CutPrefix(m.Type, "Exit/")
	tag, _, _ := strings.Cut(request, "/")
	switch {
	case !ok:
		return true
	case tag == "chat.createPR" || !strings.HasPrefix(tag, "chat.") && tag != "unknown":
		return false // not part of a session
	case tag == "chat.respondToToolApproval":
		return !slices.ContainsFunc(sandcastleRequests(c), (*sandcastleRequest).flatResponse) // takes it
	}
	return true
}

// flatResponse reports whether the answer to an approval is not nested.
func (r *sandcastleRequest) flatResponse() bool {
	return r.Tag == "chat.respondToToolApproval" && r.Payload.Response.ToolCallID == ""
}

// sandcastleRequests returns the requests of a conversation.
func sandcastleRequests(c *Conversation) (list []*sandcastleRequest) {
	for _, s := range c.Steps {
		if s.Frame == nil || s.Direction != ToServer {
			continue
		}
		for _, v := range decode(*s.Frame) {
			r := new(sandcastleRequest)
			if json.Unmarshal(protocol.MustEncode(v), r) == nil && r.Tag != "" {
				list = append(list, r)
			}
		}
	}
	return list
}

// A sandcastleSplitter splits the frames of a connection.
type sandcastleSplitter struct {
	tags   map[string]string // of requests, by id
	broken bool              // the server complained about a frame
}

func (s *sandcastleSplitter) split(_ Direction, frame []any) (list []Message) {
	for _, v := range frame {
		m, _ := v.(map[string]any)
		tag, _ := m["_tag"].(string)
		switch tag {
		case "Request":
			id, _ := m["id"].(string)
			s.tags[id], _ = m["tag"].(string)
			tag += "/" + s.tags[id]
			payload, _ := m["payload"].(map[string]any)
			if payload["toolCallId"] != nil {
				tag += "/flat"
			}
		case "Exit":
			tag += "/" + s.exit(m)
		case "Defect":
			tag += "/" + s.defect(m["defect"])
		}
		list = append(list, Message{tag, v})
		values, _ := m["values"].([]any)
		for _, v := range values {
			list = append(list, sessionEvent(v)...)
		}
	}
	return list
}

// exit returns the request's tag and the kind of its end.
func (s *sandcastleSplitter) exit(m map[string]any) string {
	id, _ := m["requestId"].(string)
	tag := s.tags[id]
	if tag == "" {
		tag = "unknown" // the request was cut into frames
	}
	exit, _ := m["exit"].(map[string]any)
	cause, _ := exit["cause"].(map[string]any)
	kind, _ := exit["_tag"].(string)
	for cause != nil { // the last of two causes
		kind, _ = cause["_tag"].(string)
		cause, _ = cause["right"].(map[string]any)
	}
	return tag + "/" + kind
}

func (s *sandcastleSplitter) defect(v any) string {
	if text, ok := v.(string); ok {
		kind, _, _ := strings.Cut(text, ":")
		return kind
	}
	m, _ := v.(map[string]any)
	kind, _ := m["name"].(string)
	if s.broken {
		kind += " again"
	}
	s.broken = true
	return kind
}

// sessionEvent returns a value of a chunk, and its chat event.
func sessionEvent(v any) []Message {
	m, _ := v.(map[string]any)
	tag, _ := m["_tag"].(string)
	list := []Message{{tag, v}}
	if event, ok := m["event"].(map[string]any); ok {
		typ, _ := event["type"].(string)
		list = append(list, Message{tag + "/" + typ, event})
	}
	return list
}
