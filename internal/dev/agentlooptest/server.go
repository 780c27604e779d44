package agentlooptest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/agentloop/wire"
	"agentctl/protocol/codec"
)

// Start is the time at which every test begins.
var Start = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// A Tester is the common part of testing.T and rapid.T.
type Tester interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// Ids returns a generator of predictable ids.
func Ids() func(string) string {
	n := 0
	return func(prefix string) string { n++; return fmt.Sprintf("%s_%d", prefix, n) }
}

// A Server is a fake native server with one session, and a server codec in front of it.
type Server struct {
	T         Tester
	newCodec  serverCodec
	Codec     codec.Codec
	name      string     // of the session, by the URL
	Log       *codec.Log // nil: there is no session yet
	Responder codec.Responder
	Now       time.Time
	Wake      time.Time
	Commands  []protocol.Command // except hello and subscribe
	Sent      []wire.Message
	Answer    map[protocol.Verb]func(*protocol.Command) any // a result or a *protocol.Error
	Tap       func(*protocol.Event)                         // gets each event before the codec does; may be nil
}

// A serverCodec makes the codec of a connection.
type serverCodec = func(codec.ServerOptions) codec.Codec

// NewServer returns a server with a connection of a client that the test plays. path is that of
// the client's URL; exists means that its session exists.
func NewServer(t Tester, newCodec serverCodec, path string, exists bool) *Server {
	h := &Server{
		T: t, Now: Start, Answer: map[protocol.Verb]func(*protocol.Command) any{}, newCodec: newCodec,
		Codec: openServer(newCodec, path), name: wire.SessionOfPath(path),
		Responder: codec.Responder{Dialect: "native", Epoch: "e1", Verbs: []protocol.Verb{
			protocol.DoSubscribe, protocol.DoCreate, protocol.DoSend, protocol.DoApprove, protocol.DoContext,
			protocol.DoCompact, protocol.DoQueueRelease,
		}},
	}
	if exists {
		h.createSession()
	}
	h.Deliver(h.Codec.Open(h.Now))
	return h
}

func openServer(newCodec serverCodec, path string) codec.Codec {
	return newCodec(codec.ServerOptions{
		Path: path, ID: Ids(), By: protocol.Actor{Name: "agentloop@peer"},
		Agent: func(string) string { return "claude" },
	})
}

// Reconnect replaces the connection by one of another client.
func (h *Server) Reconnect() {
	h.T.Helper()
	h.Log.Detach()
	h.Codec = openServer(h.newCodec, "")
	h.Deliver(h.Codec.Open(h.Now))
}

func (h *Server) createSession() {
	h.Log = codec.NewLog("s_1", "e1")
	h.Log.Add(&codec.Output{}, h.Now, codec.Entry{
		Type: protocol.SessionCreated,
		Data: protocol.SessionCreatedData{Name: h.name, Agent: "claude"},
	})
}

// Deliver carries out the codec's output.
func (h *Server) Deliver(out codec.Output) {
	h.T.Helper()
	h.Wake = out.Wake
	for _, f := range out.Foreign {
		m, ok := wire.DecodeMessage(f)
		if !ok {
			h.T.Fatalf("not a message: %s", f.Data)
		}
		h.Sent = append(h.Sent, m)
	}
	for _, line := range out.Native {
		var native codec.Output
		if c, ok := h.Responder.Decode(&native, line); ok {
			h.handleCommand(&native, &c)
		}
		h.DeliverNative(native.Native)
	}
}

// DeliverNative delivers lines of the native server.
func (h *Server) DeliverNative(lines [][]byte) {
	for _, line := range lines {
		if e, _, _ := protocol.DecodeIncoming(line); e != nil && h.Tap != nil {
			h.Tap(e)
		}
		h.Deliver(h.Codec.Native(h.Now, line))
	}
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
		h.DeliverNative(out.Native)
	}
}

// Receive passes a frame of the client to the codec.
func (h *Server) Receive(frame string) {
	h.T.Helper()
	h.Deliver(h.Codec.Foreign(h.Now, codec.Frame{Data: []byte(frame)}))
}

// Advance lets time pass.
func (h *Server) Advance(d time.Duration) {
	h.Now = h.Now.Add(d)
	if !h.Wake.IsZero() && !h.Now.Before(h.Wake) {
		h.Deliver(h.Codec.Wake(h.Now))
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

// Last returns the newest command of a verb and its data.
func Last[T any](h *Server, verb protocol.Verb) (d T) {
	h.T.Helper()
	for _, c := range slices.Backward(h.Commands) {
		if c.Command == verb {
			if err := json.Unmarshal(c.Data, &d); err != nil {
				h.T.Fatal(err)
			}
			return d
		}
	}
	h.T.Fatalf("no %s was sent", verb)
	return d
}

// short returns a message on one line.
func short(t Tester, m *wire.Message) string {
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
