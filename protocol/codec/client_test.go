package codec

import (
	"encoding/json"
	"testing"
	"time"

	"agentctl/protocol"
)

// newTestClient returns the base of a client of the dialect "test" and the output of the current
// call.
func newTestClient() (*ClientBase, *Output) {
	b := NewClientBase(
		ClientOptions{Name: "ada", ID: func(prefix string) string { return prefix + "1" }},
		Responder{Dialect: "test", Verbs: []protocol.Verb{protocol.DoHistory}},
	)
	b.Now, b.Out = time.Unix(1, 0), &Output{}
	return &b, b.Out
}

func TestAClientBaseAnnouncesItsDialect(t *testing.T) {
	b, out := newTestClient()
	if _, ok := b.Decode([]byte(`{"id":"1","command":"hello","data":{"version":"1","name":"ada"}}`)); ok {
		t.Fatal("hello was handed on")
	}
	var a protocol.Answer
	if err := json.Unmarshal(out.Native[0], &a); err != nil {
		t.Fatal(err)
	}
	r, err := DecodeResult[protocol.HelloResult](a)
	if err != nil || r.Server != "test" || r.Connection != "e1" {
		t.Errorf("hello: %+v, %v", r, err)
	}
	if b.Epoch() == b.NextEpoch() || b.NextEpoch() != "e1x2" {
		t.Error("epochs repeat")
	}
}

func TestASummaryIsPublishedWhenMoreThanItsSeqChanged(t *testing.T) {
	b, out := newTestClient()
	l := NewLog("s", b.Epoch())
	publish := func(title string, seq uint64) int {
		out.Native = nil
		b.PublishSummary(l, protocol.Summary{Session: "s", Title: title, Seq: seq})
		return len(out.Native)
	}
	if publish("a", 1) != 0 {
		t.Error("published to a client that does not watch")
	}
	b.AnswerWatch(&protocol.Command{ID: "1"}, []*Log{l}, nil)
	for i, c := range []struct {
		title string
		seq   uint64
		want  int
	}{{"a", 1, 1}, {"a", 2, 0}, {"b", 3, 1}} {
		if n := publish(c.title, c.seq); n != c.want {
			t.Errorf("%d: %d events", i, n)
		}
	}
	b.AnswerWatch(&protocol.Command{ID: "2", Data: json.RawMessage(`{"off":true}`)}, []*Log{l}, nil)
	if publish("c", 4) != 0 {
		t.Error("published after watch was turned off")
	}
}

func TestHeldCommandsAreBounded(t *testing.T) {
	b, out := newTestClient()
	var waiting []protocol.Command
	for range 3 {
		b.Hold(&waiting, 2, &protocol.Command{ID: "1"})
	}
	var a protocol.Answer
	if len(waiting) != 2 || len(out.Native) != 1 || json.Unmarshal(out.Native[0], &a) != nil ||
		a.Error.Code != protocol.CodeTooMany {
		t.Errorf("%d held, answers %s", len(waiting), out.Native)
	}
}

func TestADecidedRequestNamesItsWinner(t *testing.T) {
	var d Decisions
	st := &protocol.State{Approvals: []protocol.Approval{{Request: "r1"}}}
	a := &protocol.ApproveData{}
	if p, err := d.Find(st, a); err != nil || p.Request != "r1" || a.Request != "r1" {
		t.Errorf("the only request: %v, %v", p, err)
	}
	d.Put(&protocol.Actor{Name: "grace"}, protocol.ApprovalResolvedData{Request: "r0", Outcome: protocol.Denied})
	if _, err := d.Find(st, &protocol.ApproveData{Request: "r0"}); err.Code != protocol.CodeConflict ||
		err.Winner.By.Name != "grace" {
		t.Errorf("a decided request: %v", err)
	}
	d.Put(nil, protocol.ApprovalResolvedData{Request: "r2", Outcome: protocol.Cancelled})
	if _, err := d.Find(st, &protocol.ApproveData{Request: "r2"}); err.Message != "the request is over: cancelled" {
		t.Errorf("a cancelled request: %v", err)
	}
	d.Delete("r0")
	if _, err := d.Find(st, &protocol.ApproveData{Request: "r0"}); err.Code != protocol.CodeNotFound {
		t.Errorf("a request that was asked again: %v", err)
	}
	if _, err := d.Find(&protocol.State{}, &protocol.ApproveData{}); err.Code != protocol.CodeNotFound {
		t.Errorf("no request: %v", err)
	}
}

func TestStateOfAConnectionIsHandedToTheNext(t *testing.T) {
	type state struct{ n int }
	var s ClientState
	first := ResumeState(&s, func() *state { return &state{1} })
	if again := ResumeState(&s, func() *state { return &state{2} }); again != first {
		t.Error("the state was made again")
	}
	if ResumeState(nil, func() *state { return &state{3} }).n != 3 {
		t.Error("no state without a store")
	}
}
