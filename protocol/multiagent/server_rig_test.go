package multiagent

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

var start = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// sequentialIDs returns predictable ids.
func sequentialIDs(kind string) func(string) string {
	n := 0
	return func(prefix string) string {
		n++
		return fmt.Sprintf("%s%s%d", kind, prefix, n)
	}
}

// A testingT is the common part of testing.T and rapid.T.
type testingT interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
	Errorf(string, ...any)
}

// A serverTest is a server codec between a native server with one session and a foreign client that
// the test plays.
type serverTest struct {
	t         testingT
	codec     *server
	log       *codec.Log
	responder codec.Responder
	id        func(string) string
	now       time.Time
	commands  []protocol.Command // without hello and subscribe
	frames    [][]byte           // sent to the foreign client and not yet checked
	answer    func(*codec.Output, *protocol.Command) bool
	onEvent   func(*protocol.Event) // called before the codec gets an event; may be nil
}

var allVerbs = func() (all []protocol.Verb) {
	for _, c := range protocol.Commands {
		if c.Verb != protocol.DoHello && c.Verb != protocol.DoPing {
			all = append(all, c.Verb)
		}
	}
	return all
}()

func newServerTest(t testingT, options codec.ServerOptions) *serverTest {
	h := &serverTest{
		t: t, now: start, id: sequentialIDs("n"),
		responder: codec.Responder{Dialect: "none", Epoch: "e1", Verbs: allVerbs},
	}
	if options.Agent == nil {
		options.Agent = func(foreign string) string { return foreign }
	}
	options.ID = sequentialIDs("d")
	h.newSession("uuid", "agent_id")
	h.connect(options)
	return h
}

// connect opens a connection of the foreign client.
func (h *serverTest) connect(options codec.ServerOptions) {
	h.t.Helper()
	h.log.Detach()
	h.codec = newServer(options)
	h.deliver(h.codec.Open(h.now))
}

func (h *serverTest) newSession(id, agent string) {
	h.log = codec.NewLog(id, "e1")
	h.log.Add(&codec.Output{}, h.now, codec.Entry{
		Type: protocol.SessionCreated, Data: protocol.SessionCreatedData{Agent: agent},
	})
}

// deliver delivers the codec's output.
func (h *serverTest) deliver(out codec.Output) {
	h.t.Helper()
	if out.Close != nil {
		h.t.Fatalf("the codec closed the connection: %v", out.Close)
	}
	for _, f := range out.Foreign {
		if !json.Valid(f.Data) || f.Binary {
			h.t.Fatalf("not JSON: %s", f.Data)
		}
		h.frames = append(h.frames, f.Data)
	}
	for _, line := range out.Native {
		var answer codec.Output
		cmd, ok := h.responder.Decode(&answer, line)
		if ok {
			h.handleCommand(&answer, &cmd)
		}
		h.receiveNative(answer.Native)
	}
}

func (h *serverTest) handleCommand(out *codec.Output, c *protocol.Command) {
	if c.Command != protocol.DoSubscribe {
		h.commands = append(h.commands, *c)
	}
	if h.answer != nil && h.answer(out, c) {
		return
	}
	if c.Session != "" && c.Session != h.log.Session && c.Session != "alias" {
		h.responder.Fail(out, c, protocol.Errorf(protocol.CodeNoSession, "no session is called %q", c.Session))
		return
	}
	switch c.Command {
	case protocol.DoCreate:
		h.responder.Answer(out, c, protocol.CreateResult{Session: h.log.Session})
	case protocol.DoSubscribe:
		h.log.Attach(out, &h.responder, c, h.now)
	case protocol.DoSend:
		var d protocol.SendData
		_ = c.DecodeData(&d)
		h.handleSend(out, c, d)
	case protocol.DoInterrupt:
		if h.log.State.Turn == nil {
			h.responder.Answer(out, c, protocol.InterruptResult{})
			return
		}
		turn := h.log.State.Turn.Turn
		for _, a := range slices.Clone(h.log.State.Approvals) {
			h.append(out, turn, protocol.ApprovalResolved, protocol.ApprovalResolvedData{
				Request: a.Request, Outcome: protocol.Cancelled,
			})
		}
		h.append(out, turn, protocol.TurnEnded, protocol.TurnEndedData{Reason: protocol.ReasonInterrupted})
		h.responder.Answer(out, c, protocol.InterruptResult{Interrupted: true, Turn: turn})
		h.startNext(out)
	case protocol.DoApprove:
		var d protocol.ApproveData
		_ = c.DecodeData(&d)
		if h.log.State.PendingApproval(d.Request) == nil {
			h.responder.Fail(out, c, protocol.Errorf(protocol.CodeConflict, "grace has already decided"))
			return
		}
		o := protocol.Allowed
		if d.Decision == protocol.Deny {
			o = protocol.Denied
		}
		h.append(out, h.log.State.Turn.Turn, protocol.ApprovalResolved, protocol.ApprovalResolvedData{
			Request: d.Request, Outcome: o, Decision: d.Decision, Reason: d.Reason,
		})
		h.responder.Answer(out, c, protocol.ApproveResult{Request: d.Request, Outcome: o, Decision: d.Decision})
	}
}

func (h *serverTest) handleSend(out *codec.Output, c *protocol.Command, d protocol.SendData) {
	m := protocol.Message{MessageID: h.id("m"), Text: d.Text}
	r := protocol.SendResult{Status: protocol.SendQueued, MessageID: m.MessageID, Index: new(int)}
	*r.Index = len(h.log.State.Queue)
	h.append(out, "", protocol.QueueAdded, protocol.QueueAddedData{Message: m})
	if h.log.State.Turn == nil {
		r.Status, r.Index = protocol.SendStarted, nil
		h.startNext(out)
	}
	h.responder.Answer(out, c, r)
}

// startNext starts the turn of the first queued message.
func (h *serverTest) startNext(out *codec.Output) {
	if m := h.log.State.NextQueued(); m != nil {
		first := *m
		turn := h.id("t")
		h.append(out, "", protocol.QueueRemoved, protocol.QueueRemovedData{
			MessageID: first.MessageID, Reason: protocol.RemovedStarted,
		})
		h.append(out, turn, protocol.MessageUser, protocol.MessageUserData{Message: first})
		h.append(out, turn, protocol.TurnStarted, protocol.TurnStartedData{MessageID: first.MessageID})
	}
}

func (h *serverTest) append(out *codec.Output, turn string, typ protocol.Type, data any) {
	h.log.Add(out, h.now, codec.Entry{Type: typ, Turn: turn, Data: data})
}

// emit adds an event to the current turn.
func (h *serverTest) emit(typ protocol.Type, data any) {
	h.t.Helper()
	h.emitEntry(codec.Entry{Type: typ, Data: data})
}

func (h *serverTest) emitEntry(e codec.Entry) {
	h.t.Helper()
	if s := h.log.State; s.Turn != nil && e.Turn == "" {
		e.Turn = s.Turn.Turn
	}
	var out codec.Output
	h.log.Add(&out, h.now, e)
	if e.Type == protocol.TurnEnded {
		h.startNext(&out)
	}
	h.receiveNative(out.Native)
}

// receiveNative delivers lines of the native server.
func (h *serverTest) receiveNative(lines [][]byte) {
	h.t.Helper()
	for _, l := range lines {
		if e, _, _ := protocol.DecodeIncoming(l); e != nil && e.Durable() && h.onEvent != nil {
			h.onEvent(e)
		}
		h.deliver(h.codec.Native(h.now, l))
	}
}

// receive delivers a frame of the foreign client.
func (h *serverTest) receive(frame string) {
	h.t.Helper()
	h.deliver(h.codec.Foreign(h.now, codec.Frame{Data: []byte(frame)}))
}

// takeSent returns the frames sent to the foreign client since the last call.
func (h *serverTest) takeSent() []string {
	var got []string
	for _, f := range h.frames {
		got = append(got, string(f))
	}
	h.frames = nil
	return got
}

func (h *serverTest) wantSent(frames ...string) {
	h.t.Helper()
	wantFrames(h.t, h.takeSent(), frames)
}

func wantFrames(t testingT, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		g, w := "", ""
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = compactJSON(want[i])
		}
		if g != w {
			t.Errorf("frame %d:\ngot  %s\nwant %s", i, g, w)
		}
	}
}

func compactJSON(s string) string {
	c, ok := protocol.Compact([]byte(s))
	if !ok {
		return s
	}
	return string(c)
}

// startTurn starts a turn with a message of another client.
func (h *serverTest) startTurn(id string) {
	h.emitEntry(codec.Entry{
		Type: protocol.MessageUser, Turn: id,
		Data: protocol.MessageUserData{Message: protocol.Message{MessageID: "m", Text: "x"}},
	})
	h.emitEntry(codec.Entry{
		Type: protocol.TurnStarted, Turn: id, Data: protocol.TurnStartedData{MessageID: "m", Agent: "Agent Name"},
	})
}

// useConversation makes the codec subscribe to the conversation.
func (h *serverTest) useConversation() {
	h.receive(`{"type":"cancel_stream","conversationId":"uuid"}`)
	h.takeSent()
	h.commands = nil
}
