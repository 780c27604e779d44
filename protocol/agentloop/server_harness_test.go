package agentloop

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

var epochStart = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// A tester is the common part of testing.T and rapid.T.
type tester interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// ids returns a generator of predictable ids.
func ids() func(string) string {
	n := 0
	return func(prefix string) string { n++; return fmt.Sprintf("%s_%d", prefix, n) }
}

// A serverHarness is a fake native server with one session, and a server codec in front of it.
type serverHarness struct {
	t         tester
	codec     *server
	log       *codec.Log // nil: there is no session yet
	responder codec.Responder
	now       time.Time
	wake      time.Time
	commands  []protocol.Command // except hello and subscribe
	sent      []message
	answer    map[protocol.Verb]func(*protocol.Command) any // a result or a *protocol.Error
	tap       func(*protocol.Event)                         // gets each event before the codec does; may be nil
}

func newServerHarness(t tester, path string, exists bool) *serverHarness {
	h := &serverHarness{
		t: t, now: epochStart, answer: map[protocol.Verb]func(*protocol.Command) any{}, codec: newTestServer(path),
		responder: codec.Responder{Dialect: "native", Epoch: "e1", Verbs: []protocol.Verb{
			protocol.DoSubscribe, protocol.DoCreate, protocol.DoSend, protocol.DoApprove, protocol.DoContext,
			protocol.DoCompact, protocol.DoQueueRelease,
		}},
	}
	if exists {
		h.createSession()
	}
	h.handleOutput(h.codec.Open(h.now))
	return h
}

func newTestServer(path string) *server {
	return newServer(codec.ServerOptions{
		Path: path, ID: ids(), By: protocol.Actor{Name: "agentloop@peer"},
		Agent: func(string) string { return "claude" },
	})
}

func (h *serverHarness) createSession() {
	h.log = codec.NewLog("s_1", "e1")
	h.log.Add(&codec.Output{}, h.now, codec.Entry{
		Type: protocol.SessionCreated,
		Data: protocol.SessionCreatedData{Name: h.codec.name, Agent: "claude"},
	})
}

// handleOutput carries out the codec's output.
func (h *serverHarness) handleOutput(out codec.Output) {
	h.t.Helper()
	h.wake = out.Wake
	for _, f := range out.Foreign {
		m, ok := decodeMessage(f)
		if !ok {
			h.t.Fatalf("not a message: %s", f.Data)
		}
		h.sent = append(h.sent, m)
	}
	for _, line := range out.Native {
		var native codec.Output
		if c, ok := h.responder.Decode(&native, line); ok {
			h.handleCommand(&native, &c)
		}
		h.deliver(native.Native)
	}
}

func (h *serverHarness) deliver(lines [][]byte) {
	for _, line := range lines {
		if e, _, _ := protocol.DecodeIncoming(line); e != nil && h.tap != nil {
			h.tap(e)
		}
		h.handleOutput(h.codec.Native(h.now, line))
	}
}

func (h *serverHarness) handleCommand(out *codec.Output, c *protocol.Command) {
	if c.Command == protocol.DoSubscribe {
		if h.log == nil || c.Session != h.codec.name && c.Session != h.log.Session {
			h.responder.Fail(out, c, protocol.Errorf(protocol.CodeNoSession, "no session is called %q", c.Session))
			return
		}
		h.log.Attach(out, &h.responder, c, h.now)
		return
	}
	h.commands = append(h.commands, *c)
	if c.Command == protocol.DoCreate && h.answer[c.Command] == nil {
		h.createSession()
	}
	var result any = protocol.Empty{}
	if f := h.answer[c.Command]; f != nil {
		result = f(c)
	}
	if err, failed := result.(*protocol.Error); failed {
		h.responder.Fail(out, c, err)
		return
	}
	h.responder.Answer(out, c, result)
}

// record records events and passes them to the codec.
func (h *serverHarness) record(entries ...codec.Entry) {
	h.t.Helper()
	for _, en := range entries {
		var out codec.Output
		h.log.Add(&out, h.now, en)
		if !h.log.Following() {
			h.t.Fatal("no subscription")
		}
		h.deliver(out.Native)
	}
}

// receive passes a frame of the client to the codec.
func (h *serverHarness) receive(frame string) {
	h.t.Helper()
	h.handleOutput(h.codec.Foreign(h.now, codec.Frame{Data: []byte(frame)}))
}

// advance lets time pass.
func (h *serverHarness) advance(d time.Duration) {
	h.now = h.now.Add(d)
	if !h.wake.IsZero() && !h.now.Before(h.wake) {
		h.handleOutput(h.codec.Wake(h.now))
	}
}

// sentMessages returns the messages since the last call, each as type and payload.
func (h *serverHarness) sentMessages() []string {
	list := make([]string, len(h.sent))
	for i, m := range h.sent {
		list[i] = short(h.t, &m)
	}
	h.sent = nil
	return list
}

func (h *serverHarness) expectMessages(want ...string) {
	h.t.Helper()
	if got := h.sentMessages(); !slices.Equal(got, want) {
		h.t.Fatalf("sent\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// last returns the newest command of a verb and its data.
func last[T any](h *serverHarness, verb protocol.Verb) (d T) {
	h.t.Helper()
	for _, c := range slices.Backward(h.commands) {
		if c.Command == verb {
			if err := json.Unmarshal(c.Data, &d); err != nil {
				h.t.Fatal(err)
			}
			return d
		}
	}
	h.t.Fatalf("no %s was sent", verb)
	return d
}

// short returns a message on one line.
func short(t tester, m *message) string {
	if m.ID == "" {
		t.Fatalf("a message without an id: %+v", m)
	}
	if m.Type != responseItemType {
		return m.Type + " " + string(m.Payload)
	}
	var it item
	if err := json.Unmarshal(m.Payload, &it); err != nil {
		t.Fatal(err)
	}
	text, _ := it.Content.text()
	switch it.Type {
	case messageItem:
		return it.Role + ": " + text
	case reasoningItem:
		text, _ = it.Summary.text()
		return "reasoning: " + text
	case callItem:
		return "call " + it.CallID + " " + it.Name + " " + *it.Arguments
	case shellItem:
		return "shell " + it.CallID + " " + strings.Join(it.Action.Command, " ")
	}
	return it.Type + " " + it.CallID + " " + *it.Output
}

// entry returns an event of turn t1.
func entry(typ protocol.Type, data any) codec.Entry {
	return codec.Entry{Type: typ, Turn: "t1", Data: data}
}

func asks(text string) codec.Entry {
	return entry(protocol.MessageUser, protocol.MessageUserData{Message: protocol.Message{MessageID: "m1", Text: text}})
}

func ends(reason protocol.Reason) codec.Entry {
	return entry(protocol.TurnEnded, protocol.TurnEndedData{Reason: reason})
}

func speaks(part, text string) codec.Entry {
	return entry(protocol.TextDelta, protocol.PartDeltaData{Part: part, Text: text})
}

func wants(request, command, tool string) codec.Entry {
	return entry(protocol.ApprovalRequested, protocol.Approval{
		Request: request, Kind: protocol.ApproveCommand, Title: "Run", Command: command, Tool: tool,
		Options: approvalOptions(),
	})
}

func resolves(request string, outcome protocol.Outcome, by string) codec.Entry {
	en := entry(protocol.ApprovalResolved, protocol.ApprovalResolvedData{Request: request, Outcome: outcome})
	en.By = &protocol.Actor{Name: by}
	return en
}

func input(text string) string {
	return fmt.Sprintf(`{"id":"i1","type":"user_input","payload":{"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":%q}]}]}}`, text)
}

func review(word string) string {
	return fmt.Sprintf(`{"id":"i2","type":"approval_response","payload":{"review":%q,"customDenyMessage":null}}`, word)
}

// bridgeEntry returns an event of no turn.
func bridgeEntry(typ protocol.Type, data any) codec.Entry {
	return codec.Entry{Type: typ, Data: data}
}
