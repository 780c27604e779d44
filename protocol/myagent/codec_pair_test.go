package myagent

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A testClient is a client above its codec: it sends commands and applies the events it receives.
type testClient struct {
	t          testing.TB
	codec      codec.Codec
	now        time.Time
	toServer   func(codec.Frame) // to the server
	resume     *codec.ClientState
	newID      func(string) string
	n          int
	answers    map[string]protocol.Answer
	state      *protocol.State
	transcript *protocol.Transcript
	at         protocol.Position
	modes      []string
	caughtUp   int // caught_up
	ephemeral  []protocol.Event
	events     []protocol.Event // durable
}

func newTestClient(t testing.TB) *testClient {
	u := &testClient{
		t: t, now: start, resume: new(codec.ClientState), newID: sequentialIDs(), answers: map[string]protocol.Answer{},
	}
	return u
}

// dial opens a connection.
func (u *testClient) dial(foreign func(codec.Frame)) {
	u.toServer = foreign
	u.codec = newClient(codec.ClientOptions{Name: "ada", ID: u.newID, Resume: u.resume})
	u.deliver(u.codec.Open(u.now))
}

func (u *testClient) deliver(out codec.Output) {
	u.t.Helper()
	for _, line := range out.Native {
		e, a, err := protocol.DecodeIncoming(line)
		switch {
		case err != nil:
			u.t.Fatalf("not a native line: %s", line)
		case a != nil:
			u.handleAnswer(*a)
		default:
			u.handleEvent(e)
		}
	}
	for _, f := range out.Foreign {
		u.toServer(f)
	}
}

func (u *testClient) handleAnswer(a protocol.Answer) {
	u.answers[a.ID] = a
	var r protocol.SubscribeResult
	if json.Unmarshal(a.Result, &r) != nil || r.Mode == "" {
		return
	}
	u.modes = append(u.modes, r.Mode)
	if r.Snapshot != nil {
		u.state, u.transcript = r.Snapshot.State, &protocol.Transcript{}
	}
	u.at = r.After
}

func (u *testClient) handleEvent(e *protocol.Event) {
	u.t.Helper()
	if e.Type == protocol.CaughtUp {
		u.caughtUp++
	}
	if !e.Durable() {
		u.ephemeral = append(u.ephemeral, *e)
		return
	}
	if e.Seq != u.at.Seq+1 {
		u.t.Fatalf("event %d comes after %d", e.Seq, u.at.Seq)
	}
	if len(e.AppendJSON(nil)) > protocol.MaxEvent {
		u.t.Fatalf("event %d is too large", e.Seq)
	}
	if err := u.state.Apply(e); err != nil {
		u.t.Fatal(err)
	}
	if _, err := u.transcript.Apply(e); err != nil {
		u.t.Fatal(err)
	}
	u.at.Seq = e.Seq
	u.events = append(u.events, *e)
}

// command sends a command and returns its id.
func (u *testClient) command(verb protocol.Verb, session string, data any) string {
	u.t.Helper()
	u.n++
	c := protocol.Command{ID: fmt.Sprintf("u%d", u.n), Command: verb, Session: session}
	if data != nil {
		c.Data = protocol.MustEncode(data)
	}
	if t := protocol.CommandOf(verb); t != nil && t.Changes {
		c.Key = fmt.Sprintf("key-%d", u.n)
	}
	u.deliver(u.codec.Native(u.now, protocol.MustEncode(c)))
	return c.ID
}

// call sends a command and decodes the result, which must exist.
func (u *testClient) call(verb protocol.Verb, session string, data, result any) {
	u.t.Helper()
	id := u.command(verb, session, data)
	a, ok := u.answers[id]
	if !ok || a.Error != nil {
		u.t.Fatalf("%s: answered %t: %+v", verb, ok, a.Error)
	}
	if result != nil {
		if err := json.Unmarshal(a.Result, result); err != nil {
			u.t.Fatal(err)
		}
	}
}

// callError sends a command and returns the error, which must exist.
func (u *testClient) callError(verb protocol.Verb, session string, data any) *protocol.Error {
	u.t.Helper()
	a, ok := u.answers[u.command(verb, session, data)]
	if !ok || a.Error == nil {
		u.t.Fatalf("%s: answered %t: %s", verb, ok, a.Result)
	}
	return a.Error
}

// A codecPair connects a client codec to a server codec on a native server.
type codecPair struct {
	*testClient
	native    *nativeServer
	store     *codec.ResumeStore
	server    *serverTest
	delivered int // frames delivered to the client
}

func newCodecPair(t testing.TB) *codecPair {
	p := &codecPair{testClient: newTestClient(t), native: newNativeServer(t), store: new(codec.ResumeStore)}
	p.connect()
	return p
}

// connect replaces the connection.
func (p *codecPair) connect() {
	b := newServerTest(p.t, p.native, p.store)
	p.server, p.delivered = b, 0
	p.dial(func(f codec.Frame) {
		p.server.receive(string(f.Data))
		p.deliverFrames()
	})
	p.deliverFrames()
}

// deliverFrames delivers frames to the client.
func (p *codecPair) deliverFrames() {
	b := p.server
	for p.delivered < len(b.raw) {
		data := b.raw[p.delivered]
		p.delivered++
		p.deliver(p.codec.Foreign(p.now, codec.Frame{Data: data}))
	}
}

// emit appends events to a session.
func (p *codecPair) emit(session string, events ...protocol.Event) {
	p.server.receiveNative(p.native.append(session, events...)...)
	p.deliverFrames()
}

func TestClientAndServerTogether(t *testing.T) {
	p := newCodecPair(t)
	var hello protocol.HelloResult
	p.call(protocol.DoHello, "", protocol.HelloData{Version: "v1", Name: "ada", Acks: true}, &hello)
	var made protocol.CreateResult
	p.call(protocol.DoCreate, "", protocol.CreateData{Title: "fix", Agent: "script", CWD: "/x"}, &made)
	if made.Session != "s1" {
		t.Fatalf("created %+v", made)
	}
	p.call(protocol.DoSubscribe, "s1", protocol.SubscribeData{}, nil)
	if p.state.Agent != "script" || p.state.Title != "fix" || p.caughtUp != 1 {
		t.Fatalf("%+v", p.state)
	}
	var sent protocol.SendResult
	p.call(protocol.DoSend, "s1", protocol.SendData{Text: "hi", ClientMessageID: "ui-1"}, &sent)
	if sent.MessageID != "m1" || sent.Seq != 0 {
		t.Errorf("sent %+v", sent)
	}
	if c := p.server.lastCommand(protocol.DoSend, nil); c.Key == "" {
		t.Error("the key is not forwarded")
	}
	p.emit("s1", planApprovalTurn()...)
	if p.state.Status() != protocol.Waiting || p.state.Approvals[0].Request != "r1" {
		t.Fatalf("%+v", p.state)
	}
	var done protocol.ApproveResult
	edited := &protocol.ApprovalInput{Command: "ls"}
	p.call(protocol.DoApprove, "s1", protocol.ApproveData{Request: "r1", Option: "allow_once", Input: edited}, &done)
	var d protocol.ApproveData
	if p.server.lastCommand(protocol.DoApprove, &d); done.Outcome != protocol.Allowed || d.Option != "allow_once" ||
		d.Request != "r1" || d.Input == nil || d.Input.Command != "ls" {
		t.Errorf("%+v %+v", done, d)
	}
	p.native.answers[protocol.DoApprove] = func(protocol.Command) (any, *protocol.Error) {
		e := protocol.Errorf(protocol.CodeConflict, "grace has already decided")
		e.Winner = &protocol.Winner{By: protocol.Actor{Name: "grace"}, Outcome: protocol.Denied}
		return nil, e
	}
	if e := p.callError(protocol.DoApprove, "s1", protocol.ApproveData{
		Request: "r1", Decision: protocol.Deny,
	}); e.Code != protocol.CodeConflict || e.Winner.By.Name != "grace" {
		t.Errorf("%+v", e)
	}
	var stopped protocol.InterruptResult
	p.call(protocol.DoInterrupt, "s1", protocol.InterruptData{Turn: "t1", Queue: "hold"}, &stopped)
	if !stopped.Interrupted {
		t.Error("not interrupted")
	}
	for _, verb := range []protocol.Verb{protocol.DoSearch, protocol.DoCompact, protocol.DoRulesList} {
		if e := p.callError(verb, "s1", nil); e.Code != protocol.CodeUnsupported {
			t.Errorf("%s: %+v", verb, e)
		}
	}
	if e := p.callError(protocol.DoSubscribe, "nope", nil); e.Code != protocol.CodeNoSession {
		t.Errorf("%+v", e)
	}
	var state protocol.ExportResult
	p.call(protocol.DoExport, "s1", nil, &state)
	var restored protocol.CreateResult
	p.call(protocol.DoRestore, "", protocol.RestoreData{State: state.State}, &restored)
	if restored.Session != "s2" {
		t.Errorf("%+v", restored)
	}
	p.call(protocol.DoTaskCancel, "s1", protocol.TaskIDData{Task: "1"}, nil)
	p.call(protocol.DoPlanRun, "s1", protocol.PlanRunData{Tasks: []protocol.Task{{ID: "1", Title: "a"}}}, nil)
}

// X-9, S8: a late client names a session by id, gets its state and follows it.
func TestALateClientGetsTheState(t *testing.T) {
	p := newCodecPair(t)
	p.call(protocol.DoHello, "", protocol.HelloData{Name: "ada", Acks: true}, nil)
	p.call(protocol.DoCreate, "", protocol.CreateData{Title: "x"}, nil)
	p.emit("s1", completedTurn(1)...)
	p.emit("s1", event(protocol.QueueAdded, "", protocol.Message{MessageID: "m9", Text: "later"}))
	p.emit("s1", planApprovalTurn()...)
	late := &codecPair{testClient: newTestClient(t), native: p.native, store: p.store}
	late.native.subscribed["s1"] = false
	late.connect()
	late.call(protocol.DoSubscribe, "s1", protocol.SubscribeData{}, nil)
	if s := late.state; s.Turns != 1 || len(s.Queue) != 1 || s.Turn == nil || len(s.Approvals) != 1 || s.Title != "x" {
		t.Fatalf("%+v", s)
	}
	late.call(protocol.DoWatch, "", protocol.WatchData{}, nil)
	late.emit("s1", event(protocol.TurnEnded, "t1", protocol.TurnEndedData{Reason: protocol.ReasonDenied}))
	if late.state.Last.Reason != protocol.ReasonDenied ||
		late.ephemeral[len(late.ephemeral)-1].Type != protocol.SummaryChanged {
		t.Errorf("%+v", late.state.Last)
	}
	// MY-5, MY-6: received frames are acknowledged.
	late.command(protocol.DoAck, "s1", protocol.AckData{Seq: late.at.Seq})
	if s := late.server.codec.(*server); s.sentFrames.acked != s.seq {
		t.Errorf("acknowledged %d of %d", s.sentFrames.acked, s.seq)
	}
	late.call(protocol.DoUnsubscribe, "s1", nil, nil)
	before := late.at
	late.emit("s1", completedTurn(2)...)
	if late.at != before {
		t.Error("still subscribed")
	}
	late.call(protocol.DoSubscribe, "s1", protocol.SubscribeData{Position: &before}, nil)
	if late.modes[len(late.modes)-1] != protocol.ModeResume || late.state.Turns != 3 {
		t.Errorf("%v %+v", late.modes, late.state)
	}
	var page protocol.HistoryResult
	late.call(protocol.DoHistory, "s1", protocol.HistoryData{}, &page)
	if len(page.Events) == 0 || page.Epoch != late.at.Epoch {
		t.Errorf("history %+v", page)
	}
}

// After a server restart the log starts again, and the client gets a reset.
func TestAForgottenConnectionIsAReset(t *testing.T) {
	p := newCodecPair(t)
	p.call(protocol.DoCreate, "", protocol.CreateData{}, nil)
	p.call(protocol.DoSubscribe, "s1", protocol.SubscribeData{}, nil)
	p.emit("s1", completedTurn(1)...)
	p.store = new(codec.ResumeStore)
	p.connect()
	p.call(protocol.DoSubscribe, "s1", protocol.SubscribeData{Position: &p.at}, nil)
	if p.modes[len(p.modes)-1] != protocol.ModeReset || p.state.Turns != 1 {
		t.Errorf("%v %+v", p.modes, p.state)
	}
}

// a client that asks from the start gets the whole log.
func TestTheWholeLogCanBeRead(t *testing.T) {
	p := newCodecPair(t)
	p.call(protocol.DoCreate, "", protocol.CreateData{Title: "x"}, nil)
	for n := range 5 {
		p.emit("s1", completedTurn(n)...)
	}
	late := &codecPair{testClient: newTestClient(t), native: p.native, store: p.store}
	late.native.subscribed["s1"] = false
	late.connect()
	late.state, late.transcript = &protocol.State{}, &protocol.Transcript{}
	late.call(protocol.DoSubscribe, "s1", protocol.SubscribeData{Position: &protocol.Position{}}, nil)
	if late.modes[0] != protocol.ModeResume || len(late.transcript.Turns) != 5 || late.state.Turns != 5 ||
		late.state.Title != "x" {
		t.Errorf("%v %+v", late.modes, late.state)
	}
}

// MY-33 to MY-35: an exported session is restored as a new one, with the turns since. The old
// session continues to exist.
func TestClientRestoresASession(t *testing.T) {
	p := newCodecPair(t)
	p.call(protocol.DoCreate, "", protocol.CreateData{Title: "x"}, nil)
	p.emit("s1", completedTurn(1)...)
	var state protocol.ExportResult
	p.call(protocol.DoExport, "s1", nil, &state)
	p.emit("s1", completedTurn(2)...)
	p.emit("s1", planApprovalTurn()...)
	p.connect()
	var made protocol.CreateResult
	p.call(protocol.DoRestore, "", protocol.RestoreData{State: state.State, Name: "again"}, &made)
	p.state, p.transcript = &protocol.State{Session: made.Session}, &protocol.Transcript{}
	p.call(protocol.DoSubscribe, "again", protocol.SubscribeData{Position: &protocol.Position{}}, nil)
	if made.Session != "s2" || len(p.transcript.Turns) != 2 || p.transcript.Turns[0].Message.MessageID != "m2" ||
		p.state.Turn != nil || len(p.state.Approvals) != 0 {
		t.Errorf("%+v %+v %+v", made, p.transcript.Turns, p.state)
	}
	p.emit("s2", completedTurn(3)...)
	if p.state.Turns != 3 || p.transcript.Current().Message.MessageID != "m3" {
		t.Errorf("%+v", p.state)
	}
	if e := p.callError(protocol.DoRestore, "", protocol.RestoreData{
		State: protocol.SignedState{Version: "1", State: []byte("{}")},
	}); e.Code != protocol.CodeInvalidState {
		t.Errorf("%+v", e)
	}
	state.State.State = []byte(`{"state":{"session_id":"s1"},"timestamp":1772355600,"signature":"x","version":"1.0","checksum":"y"}`)
	if e := p.callError(protocol.DoRestore, "",
		protocol.RestoreData{State: state.State}); e.Code != protocol.CodeInvalidState {
		t.Errorf("%+v", e)
	}
}

func BenchmarkADeltaOverBothCodecs(b *testing.B) {
	p := newCodecPair(b)
	p.call(protocol.DoCreate, "", protocol.CreateData{}, nil)
	p.call(protocol.DoSubscribe, "s1", protocol.SubscribeData{}, nil)
	p.emit("s1", completedTurn(1)[:3]...)
	delta := event(protocol.TextDelta, "t1", protocol.PartDeltaData{Part: "p1", Text: "token "})
	for b.Loop() {
		p.emit("s1", delta)
		p.server.frames, p.server.raw, p.delivered = nil, nil, 0
	}
}
