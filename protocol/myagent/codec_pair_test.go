package myagent

import (
	"testing"

	"agentctl/internal/dev/codectest"
	"agentctl/internal/dev/myagenttest"
	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/myagent/wire"
)

// A codecPair connects a client codec to a server codec on a native server.
type codecPair struct {
	*myagenttest.Client
	native    *myagenttest.NativeServer
	store     *codec.ResumeStore
	server    *myagenttest.Server
	delivered int    // frames delivered to the client
	acked     uint64 // seq of the newest frame that the client acknowledged
}

func newCodecPair(t testing.TB) *codecPair {
	p := &codecPair{Client: myagenttest.NewClient(t, Dialect.Client), native: myagenttest.NewNativeServer(t), store: new(codec.ResumeStore)}
	p.connect()
	return p
}

// connect replaces the connection.
func (p *codecPair) connect() {
	b := myagenttest.NewServer(p.T, Dialect.Server, p.native, p.store, nil)
	p.server, p.delivered = b, 0
	p.Dial(func(f codec.Frame) {
		if m, ok := wire.DecodeMessage(f.Data); ok && m.Event == wire.UserAck {
			p.acked = m.AckedSeq()
		}
		p.server.Receive(string(f.Data))
		p.deliverFrames()
	})
	p.deliverFrames()
}

// deliverFrames delivers frames to the client.
func (p *codecPair) deliverFrames() {
	b := p.server
	for p.delivered < len(b.Raw) {
		data := b.Raw[p.delivered]
		p.delivered++
		p.Deliver(p.Codec.Foreign(p.Now, codec.Frame{Data: data}))
	}
}

// emit appends events to a session.
func (p *codecPair) emit(session string, events ...protocol.Event) {
	p.server.ReceiveNative(p.native.Append(session, events...)...)
	p.deliverFrames()
}

func TestClientAndServerTogether(t *testing.T) {
	p := newCodecPair(t)
	var hello protocol.HelloResult
	p.Call(protocol.DoHello, "", protocol.HelloData{Version: "v1", Name: "ada", Acks: true}, &hello)
	var made protocol.CreateResult
	p.Call(protocol.DoCreate, "", protocol.CreateData{Title: "fix", Agent: "script", CWD: "/x"}, &made)
	if made.Session != "s1" {
		t.Fatalf("created %+v", made)
	}
	p.Call(protocol.DoSubscribe, "s1", protocol.SubscribeData{}, nil)
	if p.State.Agent != "script" || p.State.Title != "fix" || p.CaughtUp() != 1 {
		t.Fatalf("%+v", p.State)
	}
	var sent protocol.SendResult
	p.Call(protocol.DoSend, "s1", protocol.SendData{Text: "hi", ClientMessageID: "ui-1"}, &sent)
	if sent.MessageID != "m1" || sent.Seq != 0 {
		t.Errorf("sent %+v", sent)
	}
	if c := p.server.LastCommand(protocol.DoSend, nil); c.Key == "" {
		t.Error("the key is not forwarded")
	}
	p.emit("s1", myagenttest.PlanApprovalTurn()...)
	if p.State.Status() != protocol.Waiting || p.State.Approvals[0].Request != "r1" {
		t.Fatalf("%+v", p.State)
	}
	var done protocol.ApproveResult
	edited := &protocol.ApprovalInput{Command: "ls"}
	p.Call(protocol.DoApprove, "s1", protocol.ApproveData{Request: "r1", Option: "allow_once", Input: edited}, &done)
	var d protocol.ApproveData
	if p.server.LastCommand(protocol.DoApprove, &d); done.Outcome != protocol.Allowed || d.Option != "allow_once" ||
		d.Request != "r1" || d.Input == nil || d.Input.Command != "ls" {
		t.Errorf("%+v %+v", done, d)
	}
	p.native.Answers[protocol.DoApprove] = func(protocol.Command) (any, *protocol.Error) {
		e := protocol.Errorf(protocol.CodeConflict, "grace has already decided")
		e.Winner = &protocol.Winner{By: protocol.Actor{Name: "grace"}, Outcome: protocol.Denied}
		return nil, e
	}
	if e := p.CallError(protocol.DoApprove, "s1", protocol.ApproveData{
		Request: "r1", Decision: protocol.Deny,
	}); e.Code != protocol.CodeConflict || e.Winner.By.Name != "grace" {
		t.Errorf("%+v", e)
	}
	var stopped protocol.InterruptResult
	p.Call(protocol.DoInterrupt, "s1", protocol.InterruptData{Turn: "t1", Queue: "hold"}, &stopped)
	if !stopped.Interrupted {
		t.Error("not interrupted")
	}
	for _, verb := range []protocol.Verb{protocol.DoSearch, protocol.DoCompact, protocol.DoRulesList} {
		if e := p.CallError(verb, "s1", nil); e.Code != protocol.CodeUnsupported {
			t.Errorf("%s: %+v", verb, e)
		}
	}
	if e := p.CallError(protocol.DoSubscribe, "nope", nil); e.Code != protocol.CodeNoSession {
		t.Errorf("%+v", e)
	}
	var state protocol.ExportResult
	p.Call(protocol.DoExport, "s1", nil, &state)
	var restored protocol.CreateResult
	p.Call(protocol.DoRestore, "", protocol.RestoreData{State: state.State}, &restored)
	if restored.Session != "s2" {
		t.Errorf("%+v", restored)
	}
	p.Call(protocol.DoTaskCancel, "s1", protocol.TaskIDData{Task: "1"}, nil)
	p.Call(protocol.DoPlanRun, "s1", protocol.PlanRunData{Tasks: []protocol.Task{{ID: "1", Title: "a"}}}, nil)
}

// X-9, S8: a late client names a session by id, gets its state and follows it.
func TestALateClientGetsTheState(t *testing.T) {
	p := newCodecPair(t)
	p.Call(protocol.DoHello, "", protocol.HelloData{Name: "ada", Acks: true}, nil)
	p.Call(protocol.DoCreate, "", protocol.CreateData{Title: "x"}, nil)
	p.emit("s1", myagenttest.CompletedTurn(1)...)
	p.emit("s1", codectest.Event(protocol.QueueAdded, "", protocol.Message{MessageID: "m9", Text: "later"}))
	p.emit("s1", myagenttest.PlanApprovalTurn()...)
	late := &codecPair{Client: myagenttest.NewClient(t, Dialect.Client), native: p.native, store: p.store}
	late.native.Logs["s1"].Following = false
	late.connect()
	late.Call(protocol.DoSubscribe, "s1", protocol.SubscribeData{}, nil)
	if s := late.State; s.Turns != 1 || len(s.Queue) != 1 || s.Turn == nil || len(s.Approvals) != 1 || s.Title != "x" {
		t.Fatalf("%+v", s)
	}
	late.Call(protocol.DoWatch, "", protocol.WatchData{}, nil)
	late.emit("s1", codectest.Event(protocol.TurnEnded, "t1", protocol.TurnEndedData{Reason: protocol.ReasonDenied}))
	if late.State.Last.Reason != protocol.ReasonDenied ||
		late.Ephemeral[len(late.Ephemeral)-1].Type != protocol.SummaryChanged {
		t.Errorf("%+v", late.State.Last)
	}
	// MY-5, MY-6: received frames are acknowledged.
	late.Command(protocol.DoAck, "s1", protocol.AckData{Seq: late.At.Seq})
	if last, _ := wire.DecodeMessage(late.server.Raw[len(late.server.Raw)-1]); late.acked != uint64(last.Seq) {
		t.Errorf("acknowledged %d of %d", late.acked, last.Seq)
	}
	late.Call(protocol.DoUnsubscribe, "s1", nil, nil)
	before := late.At
	late.emit("s1", myagenttest.CompletedTurn(2)...)
	if late.At != before {
		t.Error("still subscribed")
	}
	late.Call(protocol.DoSubscribe, "s1", protocol.SubscribeData{Position: &before}, nil)
	if late.Modes[len(late.Modes)-1] != protocol.ModeResume || late.State.Turns != 3 {
		t.Errorf("%v %+v", late.Modes, late.State)
	}
	var page protocol.HistoryResult
	late.Call(protocol.DoHistory, "s1", protocol.HistoryData{}, &page)
	if len(page.Events) == 0 || page.Epoch != late.At.Epoch {
		t.Errorf("history %+v", page)
	}
}

// After a server restart the log starts again, and the client gets a reset.
func TestAForgottenConnectionIsAReset(t *testing.T) {
	p := newCodecPair(t)
	p.Call(protocol.DoCreate, "", protocol.CreateData{}, nil)
	p.Call(protocol.DoSubscribe, "s1", protocol.SubscribeData{}, nil)
	p.emit("s1", myagenttest.CompletedTurn(1)...)
	p.store = new(codec.ResumeStore)
	p.connect()
	p.Call(protocol.DoSubscribe, "s1", protocol.SubscribeData{Position: &p.At}, nil)
	if p.Modes[len(p.Modes)-1] != protocol.ModeReset || p.State.Turns != 1 {
		t.Errorf("%v %+v", p.Modes, p.State)
	}
}

// a client that asks from the start gets the whole log.
func TestTheWholeLogCanBeRead(t *testing.T) {
	p := newCodecPair(t)
	p.Call(protocol.DoCreate, "", protocol.CreateData{Title: "x"}, nil)
	for n := range 5 {
		p.emit("s1", myagenttest.CompletedTurn(n)...)
	}
	late := &codecPair{Client: myagenttest.NewClient(t, Dialect.Client), native: p.native, store: p.store}
	late.native.Logs["s1"].Following = false
	late.connect()
	late.State, late.Transcript = &protocol.State{}, &protocol.Transcript{}
	late.Call(protocol.DoSubscribe, "s1", protocol.SubscribeData{Position: &protocol.Position{}}, nil)
	if late.Modes[0] != protocol.ModeResume || len(late.Transcript.Turns) != 5 || late.State.Turns != 5 ||
		late.State.Title != "x" {
		t.Errorf("%v %+v", late.Modes, late.State)
	}
}

// MY-33 to MY-35: an exported session is restored as a new one, with the turns since. The old
// session continues to exist.
func TestClientRestoresASession(t *testing.T) {
	p := newCodecPair(t)
	p.Call(protocol.DoCreate, "", protocol.CreateData{Title: "x"}, nil)
	p.emit("s1", myagenttest.CompletedTurn(1)...)
	var state protocol.ExportResult
	p.Call(protocol.DoExport, "s1", nil, &state)
	p.emit("s1", myagenttest.CompletedTurn(2)...)
	p.emit("s1", myagenttest.PlanApprovalTurn()...)
	p.connect()
	var made protocol.CreateResult
	p.Call(protocol.DoRestore, "", protocol.RestoreData{State: state.State, Name: "again"}, &made)
	p.State, p.Transcript = &protocol.State{Session: made.Session}, &protocol.Transcript{}
	p.Call(protocol.DoSubscribe, "again", protocol.SubscribeData{Position: &protocol.Position{}}, nil)
	if made.Session != "s2" || len(p.Transcript.Turns) != 2 || p.Transcript.Turns[0].Message.MessageID != "m2" ||
		p.State.Turn != nil || len(p.State.Approvals) != 0 {
		t.Errorf("%+v %+v %+v", made, p.Transcript.Turns, p.State)
	}
	p.emit("s2", myagenttest.CompletedTurn(3)...)
	if p.State.Turns != 3 || p.Transcript.Current().Message.MessageID != "m3" {
		t.Errorf("%+v", p.State)
	}
	if e := p.CallError(protocol.DoRestore, "", protocol.RestoreData{
		State: protocol.SignedState{Version: "1", State: []byte("{}")},
	}); e.Code != protocol.CodeInvalidState {
		t.Errorf("%+v", e)
	}
	state.State.State = []byte(`{"state":{"session_id":"s1"},"timestamp":1772355600,"signature":"x","version":"1.0","checksum":"y"}`)
	if e := p.CallError(protocol.DoRestore, "",
		protocol.RestoreData{State: state.State}); e.Code != protocol.CodeInvalidState {
		t.Errorf("%+v", e)
	}
}

func BenchmarkADeltaOverBothCodecs(b *testing.B) {
	p := newCodecPair(b)
	p.Call(protocol.DoCreate, "", protocol.CreateData{}, nil)
	p.Call(protocol.DoSubscribe, "s1", protocol.SubscribeData{}, nil)
	p.emit("s1", myagenttest.CompletedTurn(1)[:3]...)
	delta := codectest.Event(protocol.TextDelta, "t1", protocol.PartDeltaData{Part: "p1", Text: "token "})
	for b.Loop() {
		p.emit("s1", delta)
		p.server.Frames, p.server.Raw, p.delivered = nil, nil, 0
	}
}
