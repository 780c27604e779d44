package multiagenttest

import (
	"slices"

	"agentctl/internal/dev/codectest"
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A Server is a server codec between a native server with one session and a foreign client that
// the test plays.
type Server struct {
	codectest.Server
	newCodec  func(codec.ServerOptions) codec.Codec
	Log       *codec.Log
	Responder codec.Responder
	Commands  []protocol.Command // without hello and subscribe
	id        func(string) string
	Frames    [][]byte // sent to the foreign client and not yet checked
	Answer    func(*codec.Output, *protocol.Command) bool
}

var allVerbs = func() (all []protocol.Verb) {
	for _, c := range protocol.Commands {
		if c.Verb != protocol.DoHello && c.Verb != protocol.DoPing {
			all = append(all, c.Verb)
		}
	}
	return all
}()

// NewServer returns a server with a session and a connection of a client that the test plays.
func NewServer(
	t codectest.T, newCodec func(codec.ServerOptions) codec.Codec, options codec.ServerOptions,
) *Server {
	h := &Server{
		Server: codectest.Server{T: t, Now: codectest.Start}, newCodec: newCodec, id: codectest.IDs(),
		Responder: codec.Responder{Dialect: "none", Epoch: "e1", Verbs: allVerbs},
	}
	h.Foreign = func(out codec.Output) { h.Frames = append(h.Frames, checkedFrames(t, out)...) }
	h.Native = func(line []byte) [][]byte {
		var out codec.Output
		if c, ok := h.Responder.Decode(&out, line); ok {
			h.handleCommand(&out, &c)
		}
		return out.Native
	}
	if options.Agent == nil {
		options.Agent = func(foreign string) string { return foreign }
	}
	options.ID = codectest.IDs()
	h.newSession("uuid", "agent_id")
	h.Connect(options)
	return h
}

// Connect opens a connection of the foreign client.
func (h *Server) Connect(options codec.ServerOptions) {
	h.T.Helper()
	h.Log.Detach()
	h.Open(h.newCodec(options))
}

func (h *Server) newSession(id, agent string) {
	h.Log = codec.NewLog(id, "e1")
	h.Log.Add(&codec.Output{}, h.Now, codec.Entry{
		Type: protocol.SessionCreated, Data: protocol.SessionCreatedData{Agent: agent},
	})
}

func (h *Server) handleCommand(out *codec.Output, c *protocol.Command) {
	if c.Command != protocol.DoSubscribe {
		h.Commands = append(h.Commands, *c)
	}
	if h.Answer != nil && h.Answer(out, c) {
		return
	}
	if c.Session != "" && c.Session != h.Log.Session && c.Session != "alias" {
		h.Responder.Fail(out, c, protocol.Errorf(protocol.CodeNoSession, "no session is called %q", c.Session))
		return
	}
	switch c.Command {
	case protocol.DoCreate:
		h.Responder.Answer(out, c, protocol.CreateResult{Session: h.Log.Session})
	case protocol.DoSubscribe:
		h.Log.Attach(out, &h.Responder, c, h.Now)
	case protocol.DoSend:
		var d protocol.SendData
		_ = c.DecodeData(&d)
		h.handleSend(out, c, d)
	case protocol.DoInterrupt:
		if h.Log.State.Turn == nil {
			h.Responder.Answer(out, c, protocol.InterruptResult{})
			return
		}
		turn := h.Log.State.Turn.Turn
		for _, a := range slices.Clone(h.Log.State.Approvals) {
			h.Append(out, turn, protocol.ApprovalResolved, protocol.ApprovalResolvedData{
				Request: a.Request, Outcome: protocol.Cancelled,
			})
		}
		h.Append(out, turn, protocol.TurnEnded, protocol.TurnEndedData{Reason: protocol.ReasonInterrupted})
		h.Responder.Answer(out, c, protocol.InterruptResult{Interrupted: true, Turn: turn})
		h.StartNext(out)
	case protocol.DoApprove:
		var d protocol.ApproveData
		_ = c.DecodeData(&d)
		if h.Log.State.PendingApproval(d.Request) == nil {
			h.Responder.Fail(out, c, protocol.Errorf(protocol.CodeConflict, "grace has already decided"))
			return
		}
		o := protocol.Allowed
		if d.Decision == protocol.Deny {
			o = protocol.Denied
		}
		h.Append(out, h.Log.State.Turn.Turn, protocol.ApprovalResolved, protocol.ApprovalResolvedData{
			Request: d.Request, Outcome: o, Decision: d.Decision, Reason: d.Reason,
		})
		h.Responder.Answer(out, c, protocol.ApproveResult{Request: d.Request, Outcome: o, Decision: d.Decision})
	}
}

func (h *Server) handleSend(out *codec.Output, c *protocol.Command, d protocol.SendData) {
	m := protocol.Message{MessageID: h.id("m"), Text: d.Text}
	r := protocol.SendResult{Status: protocol.SendQueued, MessageID: m.MessageID, Index: new(int)}
	*r.Index = len(h.Log.State.Queue)
	h.Append(out, "", protocol.QueueAdded, protocol.QueueAddedData{Message: m})
	if h.Log.State.Turn == nil {
		r.Status, r.Index = protocol.SendStarted, nil
		h.StartNext(out)
	}
	h.Responder.Answer(out, c, r)
}

// StartNext starts the turn of the first queued message.
func (h *Server) StartNext(out *codec.Output) {
	if m := h.Log.State.NextQueued(); m != nil {
		first := *m
		turn := h.id("t")
		h.Append(out, "", protocol.QueueRemoved, protocol.QueueRemovedData{
			MessageID: first.MessageID, Reason: protocol.RemovedStarted,
		})
		h.Append(out, turn, protocol.MessageUser, protocol.MessageUserData{Message: first})
		h.Append(out, turn, protocol.TurnStarted, protocol.TurnStartedData{MessageID: first.MessageID})
	}
}

// Append adds an event to the session. out gets it for the codec.
func (h *Server) Append(out *codec.Output, turn string, typ protocol.Type, data any) {
	h.Log.Add(out, h.Now, codec.Entry{Type: typ, Turn: turn, Data: data})
}

// Emit adds an event to the current turn.
func (h *Server) Emit(typ protocol.Type, data any) {
	h.T.Helper()
	h.EmitEntry(codec.Entry{Type: typ, Data: data})
}

// EmitEntry adds an event to the current turn, and starts the next turn when it ends.
func (h *Server) EmitEntry(e codec.Entry) {
	h.T.Helper()
	if s := h.Log.State; s.Turn != nil && e.Turn == "" {
		e.Turn = s.Turn.Turn
	}
	var out codec.Output
	h.Log.Add(&out, h.Now, e)
	if e.Type == protocol.TurnEnded {
		h.StartNext(&out)
	}
	h.ReceiveNative(out.Native...)
}

// TakeSent returns the frames sent to the foreign client since the last call.
func (h *Server) TakeSent() []string {
	var got []string
	for _, f := range h.Frames {
		got = append(got, string(f))
	}
	h.Frames = nil
	return got
}

// WantSent checks the frames sent since the last check.
func (h *Server) WantSent(frames ...string) {
	h.T.Helper()
	wantFrames(h.T, h.Frames, frames)
	h.Frames = nil
}

// StartTurn starts a turn with a message of another client.
func (h *Server) StartTurn(id string) {
	h.EmitEntry(codec.Entry{
		Type: protocol.MessageUser, Turn: id,
		Data: protocol.MessageUserData{Message: protocol.Message{MessageID: "m", Text: "x"}},
	})
	h.EmitEntry(codec.Entry{
		Type: protocol.TurnStarted, Turn: id, Data: protocol.TurnStartedData{MessageID: "m", Agent: "Agent Name"},
	})
}

// UseConversation makes the codec subscribe to the conversation.
func (h *Server) UseConversation() {
	h.Receive(`{"type":"cancel_stream","conversationId":"uuid"}`)
	h.TakeSent()
	h.Commands = nil
}
