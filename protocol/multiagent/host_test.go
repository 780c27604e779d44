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

// mint makes ids that a test can foretell.
func mint(kind string) func(string) string {
	n := 0
	return func(prefix string) string {
		n++
		return fmt.Sprintf("%s%s%d", kind, prefix, n)
	}
}

// A tester is what testing and rapid have in common.
type tester interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
	Errorf(string, ...any)
}

// A host is a native server with one session, beside the codec of a foreign client's connection.
type host struct {
	t      tester
	codec  *Server
	log    *codec.Log
	desk   codec.Responder
	id     func(string) string
	now    time.Time
	did    []protocol.Command // but hello and subscribe
	frames [][]byte           // said to the foreign client and not taken yet
	answer func(*codec.Output, *protocol.Command) bool
	tap    func(*protocol.Event) // sees what is recorded, before the codec does; may be nil
}

var everything = func() (all []protocol.Verb) {
	for _, c := range protocol.Commands {
		if c.Verb != protocol.DoHello && c.Verb != protocol.DoPing {
			all = append(all, c.Verb)
		}
	}
	return all
}()

func newHost(t tester, door codec.ServerOptions) *host {
	h := &host{t: t, now: start, id: mint("n"), desk: codec.Responder{Dialect: "none", Epoch: "e1", Verbs: everything}}
	if door.Agent == nil {
		door.Agent = func(foreign string) string { return foreign }
	}
	door.ID = mint("d")
	h.session("uuid", "agent_id")
	h.connect(door)
	return h
}

// connect opens a connection of the foreign client.
func (h *host) connect(door codec.ServerOptions) {
	h.t.Helper()
	h.log.Detach()
	h.codec = NewServer(door)
	h.do(h.codec.Open(h.now))
}

func (h *host) session(id, agent string) {
	h.log = codec.NewLog(id, "e1")
	h.log.Add(&codec.Output{}, h.now, codec.Entry{Type: protocol.SessionCreated, Data: protocol.SessionCreatedData{Agent: agent}})
}

// do carries out what the codec wants.
func (h *host) do(out codec.Output) {
	h.t.Helper()
	if out.Close != nil {
		h.t.Fatalf("the codec closes: %v", out.Close)
	}
	for _, f := range out.Foreign {
		if !json.Valid(f.Data) || f.Binary {
			h.t.Fatalf("no JSON: %s", f.Data)
		}
		h.frames = append(h.frames, f.Data)
	}
	for _, line := range out.Native {
		var said codec.Output
		cmd, ok := h.desk.Decode(&said, line)
		if ok {
			h.command(&said, &cmd)
		}
		h.native(said.Native)
	}
}

func (h *host) command(out *codec.Output, c *protocol.Command) {
	if c.Command != protocol.DoSubscribe {
		h.did = append(h.did, *c)
	}
	if h.answer != nil && h.answer(out, c) {
		return
	}
	if c.Session != "" && c.Session != h.log.Session && c.Session != "alias" {
		h.desk.Fail(out, c, protocol.Errorf(protocol.CodeNoSession, "no session is called %q", c.Session))
		return
	}
	switch c.Command {
	case protocol.DoCreate:
		h.desk.Answer(out, c, protocol.CreateResult{Session: h.log.Session})
	case protocol.DoSubscribe:
		h.log.Attach(out, &h.desk, c, h.now)
	case protocol.DoSend:
		var d protocol.SendData
		_ = c.DecodeData(&d)
		h.sent(out, c, d)
	case protocol.DoInterrupt:
		if h.log.State.Turn == nil {
			h.desk.Answer(out, c, protocol.InterruptResult{})
			return
		}
		turn := h.log.State.Turn.Turn
		for _, a := range slices.Clone(h.log.State.Approvals) {
			h.into(out, turn, protocol.ApprovalResolved, protocol.ApprovalResolvedData{Request: a.Request, Outcome: protocol.Cancelled})
		}
		h.into(out, turn, protocol.TurnEnded, protocol.TurnEndedData{Reason: protocol.ReasonInterrupted})
		h.desk.Answer(out, c, protocol.InterruptResult{Interrupted: true, Turn: turn})
		h.next(out)
	case protocol.DoApprove:
		var d protocol.ApproveData
		_ = c.DecodeData(&d)
		if h.log.State.PendingApproval(d.Request) == nil {
			h.desk.Fail(out, c, protocol.Errorf(protocol.CodeConflict, "grace has already decided"))
			return
		}
		o := protocol.Allowed
		if d.Decision == protocol.Deny {
			o = protocol.Denied
		}
		h.into(out, h.log.State.Turn.Turn, protocol.ApprovalResolved, protocol.ApprovalResolvedData{
			Request: d.Request, Outcome: o, Decision: d.Decision, Reason: d.Reason,
		})
		h.desk.Answer(out, c, protocol.ApproveResult{Request: d.Request, Outcome: o, Decision: d.Decision})
	}
}

func (h *host) sent(out *codec.Output, c *protocol.Command, d protocol.SendData) {
	m := protocol.Message{MessageID: h.id("m"), Text: d.Text}
	r := protocol.SendResult{Status: protocol.SendQueued, MessageID: m.MessageID, Index: new(int)}
	*r.Index = len(h.log.State.Queue)
	h.into(out, "", protocol.QueueAdded, protocol.QueueAddedData{Message: m})
	if h.log.State.Turn == nil {
		r.Status, r.Index = protocol.SendStarted, nil
		h.next(out)
	}
	h.desk.Answer(out, c, r)
}

// next starts the turn of the first queued message.
func (h *host) next(out *codec.Output) {
	if m := h.log.State.NextQueued(); m != nil {
		first := *m
		turn := h.id("t")
		h.into(out, "", protocol.QueueRemoved, protocol.QueueRemovedData{MessageID: first.MessageID, Reason: protocol.RemovedStarted})
		h.into(out, turn, protocol.MessageUser, protocol.MessageUserData{Message: first})
		h.into(out, turn, protocol.TurnStarted, protocol.TurnStartedData{MessageID: first.MessageID})
	}
}

func (h *host) into(out *codec.Output, turn string, typ protocol.Type, data any) {
	h.log.Add(out, h.now, codec.Entry{Type: typ, Turn: turn, Data: data})
}

// happens adds an event to the turn under way.
func (h *host) happens(typ protocol.Type, data any) {
	h.t.Helper()
	h.entry(codec.Entry{Type: typ, Data: data})
}

func (h *host) entry(e codec.Entry) {
	h.t.Helper()
	if s := h.log.State; s.Turn != nil && e.Turn == "" {
		e.Turn = s.Turn.Turn
	}
	var out codec.Output
	h.log.Add(&out, h.now, e)
	if e.Type == protocol.TurnEnded {
		h.next(&out)
	}
	h.native(out.Native)
}

// native brings the codec what our server says.
func (h *host) native(lines [][]byte) {
	h.t.Helper()
	for _, l := range lines {
		if e, _, _ := protocol.DecodeIncoming(l); e != nil && e.Durable() && h.tap != nil {
			h.tap(e)
		}
		h.do(h.codec.Native(h.now, l))
	}
}

// says brings a frame of the foreign client.
func (h *host) says(frame string) {
	h.t.Helper()
	h.do(h.codec.Foreign(h.now, codec.Frame{Data: []byte(frame)}))
}

// takes returns the frames that the foreign client got since the last time.
func (h *host) takes() []string {
	var got []string
	for _, f := range h.frames {
		got = append(got, string(f))
	}
	h.frames = nil
	return got
}

func (h *host) wants(frames ...string) {
	h.t.Helper()
	same(h.t, h.takes(), frames)
}

func same(t tester, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		g, w := "", ""
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = compact(want[i])
		}
		if g != w {
			t.Errorf("frame %d:\ngot  %s\nwant %s", i, g, w)
		}
	}
}

func compact(s string) string {
	c, ok := protocol.Compact([]byte(s))
	if !ok {
		return s
	}
	return string(c)
}

// turn starts a turn of that id with a message of somebody else.
func (h *host) turn(id string) {
	h.entry(codec.Entry{Type: protocol.MessageUser, Turn: id, Data: protocol.MessageUserData{Message: protocol.Message{MessageID: "m", Text: "x"}}})
	h.entry(codec.Entry{Type: protocol.TurnStarted, Turn: id, Data: protocol.TurnStartedData{MessageID: "m", Agent: "Agent Name"}})
}

// used makes the foreign client use the conversation, without any trace.
func (h *host) used() {
	h.says(`{"type":"cancel_stream","conversationId":"uuid"}`)
	h.takes()
	h.did = nil
}
