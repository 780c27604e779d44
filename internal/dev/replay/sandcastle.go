package replay

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/sandcastle"
)

func sandcastleDialect() *Dialect {
	own, silent, exceptions := sandcastleDifferences()
	return &Dialect{
		Dialect: sandcastle.Dialect,
		Grammar: Grammar{
			Split: func() func(Direction, any) []Message {
				return (&sandcastleSplitter{tags: map[string]string{}}).split
			},
			OpenKeys:   func(path string) bool { return strings.HasSuffix(path, ".answers") },
			TypeFields: []string{"_tag", "type"},
			IDs: []string{
				"id", "requestId", "sessionId", "messageId", "turnId", "clientMessageId", "toolCallId",
				"parentToolCallId", "activeTurnId", "lastMessageId", "afterMessageId", "claudeSessionId",
			},
			LocalIDs: func(id string) bool {
				_, err := strconv.ParseUint(id, 10, 64)
				return err == nil
			},
		},
		History: true,
		Settle:  5 * time.Second, // less than until the client's first ping
		Session: `.payload.sessionId // ""`,
		Commands: []Command{
			{
				Type: "Request/chat.subscribe", Verb: protocol.DoSubscribe,
				Data: `.payload.sessionId as $id | select(all($subscribed[]?; . != $id))`,
			},
			{
				Type: "Request/chat.send", Verb: protocol.DoSend,
				Data: `.payload | .sessionId as $id | select($state and any($subscribed[]?; . == $id)) | {text: .content}`,
			},
			{Type: "Request/chat.interrupt", Verb: protocol.DoInterrupt, Data: `{}`},
			{Type: "Request/chat.dequeue", Verb: protocol.DoQueueRemove, Data: `{message_id: .payload.messageId}`},
			{
				Type: "Request/chat.respondToToolApproval", Verb: protocol.DoApprove, Expected: unanswered,
				Data: `.payload.response | objects | {
					request: .toolCallId, decision: (if .approved then "allow_once" else "deny" end),
					reason: .payload.feedback,
					input: (.payload.answers // {} | select(. != {}) // null
						| if . then {answers: map_values(if type == "array" then . else [.] end)} else null end)}`,
			},
			{Type: "Interrupt", Verb: protocol.DoUnsubscribe, Session: `$first // empty`},
			{Type: "Request/chat.getHistory", Expected: sent}, // when the client subscribes
			{Type: "Ack", Expected: func(c *clientConn, m Message) bool {
				return c.ids.Known(textAt(m.Value, "requestId"))
			}},
			{Type: "Ping"},
		},
		SameClient: func(c *Conversation) bool { return strings.Contains(c.Scenario, "reconnect") },
		Script:     sandcastleScript,
		// Their names are the recorded ids: a client may send those in a frame that is cut in two.
		Sessions: `[$requests[] | .payload?.sessionId? // "" | select(. != "" and . != "nope")] | unique`,
		Beside: []Command{ // requests that are not part of a session, and what a tool did
			{
				Type: "StreamEvent/session-renamed", Verb: protocol.DoRename, Session: `.sessionId`,
				Data: `{title}`,
			},
			{Type: "Request/chat.createPR", Verb: protocol.DoSend, Data: `{text: "make a pull request"}`},
			{Type: "Request/session.delete", Verb: protocol.DoClose, Session: `.payload.id`, Data: `{delete: true}`},
			{
				Type: "Request/session.update", Verb: protocol.DoRename, Session: `.payload.id`,
				Data: `{title: (.payload.input.title // "")}`,
			},
		},
		Unsent: []Unsent{
			{"Chunk", "", "the values are messages"},
			{"StreamEvent", `$type == "StreamEvent"`, "depends on how events are batched"},
			{"Defect/Unknown request tag", "", "ends the request alone"},
			{"Defect/SyntaxError again", "", "the connection continues"},
			{"Exit/chat.createPR", "", "not part of a session"},
			{"Exit/", `$type | test("^Exit/(chat[.]|unknown)") | not`, "not part of a session"},
			{"Exit/chat.respondToToolApproval", `any($requests[]; .tag? == "chat.respondToToolApproval"
				and (.payload.response.toolCallId? // "") == "")`, "a flat answer is accepted"},
		},
		Ack: func(m Message) string {
			if m.Type != "Chunk" {
				return ""
			}
			return fmt.Sprintf("{\"_tag\":\"Ack\",\"requestId\":%q}\n", at(m.Value, "requestId"))
		},
		AckTest: "no-ack",
		Own:     own, Exceptions: exceptions, Silent: silent,
		Unasked: map[string]string{
			"Exit/chat.getHistory/Success":         "no recorded client joins a session with finished turns",
			"Exit/chat.respondToToolApproval/Fail": "in no recording a client answers what it believes to be pending",
		},
	}
}

// A sandcastleSplitter splits the frames of a connection.
type sandcastleSplitter struct {
	tags   map[string]string // of requests, by id
	broken bool              // the server complained about a frame
}

func (s *sandcastleSplitter) split(_ Direction, v any) []Message {
	typ := textAt(v, "_tag")
	switch typ {
	case "Request":
		s.tags[textAt(v, "id")] = textAt(v, "tag")
		typ += "/" + textAt(v, "tag")
		if at(v, "payload", "toolCallId") != nil {
			typ += "/flat"
		}
	case "Exit":
		tag := s.tags[textAt(v, "requestId")]
		if tag == "" {
			tag = "unknown" // the request was cut into frames
		}
		kind, cause := textAt(v, "exit", "_tag"), at(v, "exit", "cause")
		for ; cause != nil; cause = at(cause, "right") { // the last of two causes
			kind = textAt(cause, "_tag")
		}
		typ += "/" + tag + "/" + kind
	case "Defect":
		typ += "/" + s.defect(at(v, "defect"))
	}
	list := []Message{{typ, v}}
	values, _ := at(v, "values").([]any)
	for _, v := range values { // of a chunk
		list = append(list, Message{textAt(v, "_tag"), v})
		if event, ok := at(v, "event").(map[string]any); ok {
			list = append(list, Message{textAt(v, "_tag") + "/" + textAt(event, "type"), event})
		}
	}
	return list
}

func (s *sandcastleSplitter) defect(v any) string {
	if text, ok := v.(string); ok {
		kind, _, _ := strings.Cut(text, ":")
		return kind
	}
	kind := textAt(v, "name")
	if s.broken {
		kind += " again"
	}
	s.broken = true
	return kind
}
