package agentlooptest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"agentctl/internal/dev/codectest"
	"agentctl/protocol"
	"agentctl/protocol/agentloop/wire"
	"agentctl/protocol/codec"
)

// A Server is a server codec between a fake native server with one session and a client that the
// test plays.
type Server struct {
	codectest.Server
	newCodec  serverCodec
	name      string     // of the session, by the URL
	Log       *codec.Log // nil: there is no session yet
	Responder codec.Responder
	Commands  []protocol.Command // except hello and subscribe
	Sent      []wire.Message
	Answer    map[protocol.Verb]func(*protocol.Command) any // a result or a *protocol.Error
}

// A serverCodec makes the codec of a connection.
type serverCodec = func(codec.ServerOptions) codec.Codec

// NewServer returns a server with a connection of a client that the test plays. path is the path of
// the client's URL; exists means that its session exists.
func NewServer(t codectest.T, newCodec serverCodec, path string, exists bool) *Server {
	h := &Server{
		Server: codectest.Server{T: t, Now: codectest.Start}, newCodec: newCodec, name: wire.SessionOfPath(path),
		Answer: map[protocol.Verb]func(*protocol.Command) any{},
		Responder: codec.Responder{Dialect: "native", Epoch: "e1", Verbs: []protocol.Verb{
			protocol.DoSubscribe, protocol.DoCreate, protocol.DoSend, protocol.DoApprove, protocol.DoContext,
			protocol.DoCompact, protocol.DoQueueRelease,
		}},
	}
	h.Foreign = func(out codec.Output) { h.Sent = append(h.Sent, decoded(t, out)...) }
	h.Native = func(line []byte) [][]byte {
		var out codec.Output
		if c, ok := h.Responder.Decode(&out, line); ok {
			h.handleCommand(&out, &c)
		}
		return out.Native
	}
	if exists {
		h.createSession()
	}
	h.Open(openServer(newCodec, path))
	return h
}

func openServer(newCodec serverCodec, path string) codec.Codec {
	return newCodec(codec.ServerOptions{
		Path: path, ID: codectest.IDs(), By: protocol.Actor{Name: "agentloop@peer"},
		Agent: func(string) string { return "claude" },
	})
}

// Reconnect replaces the connection by one of another client.
func (h *Server) Reconnect() {
	h.T.Helper()
	h.Log.Detach()
	h.Open(openServer(h.newCodec, ""))
}

func (h *Server) createSession() {
	h.Log = codec.NewLog("s_1", "e1")
	h.Log.Add(&codec.Output{}, h.Now, codec.Entry{
		Type: protocol.SessionCreated,
		Data: protocol.SessionCreatedData{Name: h.name, Agent: "claude"},
	})
}

func (h *Server) handleCommand(out *codec.Output, c *protocol.Command) {
	if c.Command == protocol.DoSubscribe {
		if h.Log == nil || c.Session != h.name && c.Session != h.Log.Session {
			h.Responder.Fail(out, c, protocol.Errorf(protocol.CodeNoSession, "no session is called %q", c.Session))
			return
		}
		h.Log.Attach(out, &h.Responder, c, h.Now)
		return
	}
	h.Commands = append(h.Commands, *c)
	if c.Command == protocol.DoCreate && h.Answer[c.Command] == nil {
		h.createSession()
	}
	var result any = protocol.Empty{}
	if f := h.Answer[c.Command]; f != nil {
		result = f(c)
	}
	if err, failed := result.(*protocol.Error); failed {
		h.Responder.Fail(out, c, err)
		return
	}
	h.Responder.Answer(out, c, result)
}

// Record records events and passes them to the codec.
func (h *Server) Record(entries ...codec.Entry) {
	h.T.Helper()
	for _, en := range entries {
		var out codec.Output
		h.Log.Add(&out, h.Now, en)
		if !h.Log.Following() {
			h.T.Fatal("no subscription")
		}
		h.ReceiveNative(out.Native...)
	}
}

// SentMessages returns the messages since the last call, each as type and payload.
func (h *Server) SentMessages() []string {
	list := make([]string, len(h.Sent))
	for i, m := range h.Sent {
		list[i] = short(h.T, &m)
	}
	h.Sent = nil
	return list
}

// ExpectMessages checks the messages since the last call.
func (h *Server) ExpectMessages(want ...string) {
	h.T.Helper()
	if got := h.SentMessages(); !slices.Equal(got, want) {
		h.T.Fatalf("sent\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// Last returns the data of the newest command of a verb.
func Last[T any](h *Server, verb protocol.Verb) (d T) {
	h.T.Helper()
	codectest.Last(h.T, h.Commands, verb, &d)
	return d
}

// short returns a message on one line.
func short(t codectest.T, m *wire.Message) string {
	if m.ID == "" {
		t.Fatalf("a message without an id: %+v", m)
	}
	if m.Type != wire.ResponseItemType {
		return m.Type + " " + string(m.Payload)
	}
	var it wire.Item
	if err := json.Unmarshal(m.Payload, &it); err != nil {
		t.Fatal(err)
	}
	text, _ := it.Content.Text()
	switch it.Type {
	case wire.MessageItem:
		return it.Role + ": " + text
	case wire.ReasoningItem:
		text, _ = it.Summary.Text()
		return "reasoning: " + text
	case wire.CallItem:
		return "call " + it.CallID + " " + it.Name + " " + *it.Arguments
	case wire.ShellItem:
		return "shell " + it.CallID + " " + strings.Join(it.Action.Command, " ")
	}
	return it.Type + " " + it.CallID + " " + *it.Output
}

// Entry returns an event of turn t1.
func Entry(typ protocol.Type, data any) codec.Entry {
	return codec.Entry{Type: typ, Turn: "t1", Data: data}
}

// Asks is a user's message, which begins turn t1.
func Asks(text string) codec.Entry {
	return Entry(protocol.MessageUser, protocol.MessageUserData{Message: protocol.Message{MessageID: "m1", Text: text}})
}

// Ends is the end of turn t1.
func Ends(reason protocol.Reason) codec.Entry {
	return Entry(protocol.TurnEnded, protocol.TurnEndedData{Reason: reason})
}

// Speaks is text of the agent.
func Speaks(part, text string) codec.Entry {
	return Entry(protocol.TextDelta, protocol.PartDeltaData{Part: part, Text: text})
}

// Wants is an approval request for a command.
func Wants(request, command, tool string) codec.Entry {
	return Entry(protocol.ApprovalRequested, protocol.Approval{
		Request: request, Kind: protocol.ApproveCommand, Title: "Run", Command: command, Tool: tool,
		Options: wire.ApprovalOptions(),
	})
}

// Resolves is the end of an approval request.
func Resolves(request string, outcome protocol.Outcome, by string) codec.Entry {
	en := Entry(protocol.ApprovalResolved, protocol.ApprovalResolvedData{Request: request, Outcome: outcome})
	en.By = &protocol.Actor{Name: by}
	return en
}

// Input returns a user_input.
func Input(text string) string {
	return fmt.Sprintf(`{"id":"i1","type":"user_input","payload":{"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":%q}]}]}}`, text)
}

// Review returns an approval_response.
func Review(word string) string {
	return fmt.Sprintf(`{"id":"i2","type":"approval_response","payload":{"review":%q,"customDenyMessage":null}}`, word)
}

// BridgeEntry returns an event of no turn.
func BridgeEntry(typ protocol.Type, data any) codec.Entry {
	return codec.Entry{Type: typ, Data: data}
}
