package approval

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/policy"
)

var (
	anna = protocol.Actor{Name: "anna"}
	bert = protocol.Actor{Name: "bert"}
)

// A rig is the requests of a session with a turn.
type rig struct {
	t      *testing.T
	p      *Approvals
	st     *protocol.State
	stored map[string][]byte
	failed error // of reading the store
	terms  Terms
	caller Caller
}

func newRig(t *testing.T) *rig {
	r := &rig{t: t, st: &protocol.State{Session: "s"}, stored: map[string][]byte{}}
	r.p = New(func(request string) ([]byte, error) { return r.stored[request], r.failed })
	limits := Limits{Requests: 10, Rules: 10, Bytes: 4 << 20}
	now := time.Unix(1e9, 0)
	can := new(agent.Capabilities)
	r.terms = Terms{Explains: true, Agent: can, Policy: &policy.Decider{}, Limits: limits, Now: now}
	r.caller = Caller{By: bert, Now: now, Limits: limits, Agent: can}
	r.record(protocol.SessionCreated, nil, "", protocol.SessionCreatedData{Agent: "fake", CWD: "/src"})
	r.startTurn("t1")
	return r
}

func (r *rig) startTurn(id string) {
	r.record(protocol.MessageUser, &anna, id, protocol.MessageUserData{Message: protocol.Message{MessageID: "m"}})
	r.record(protocol.TurnStarted, &anna, id, protocol.TurnStartedData{MessageID: "m"})
}

func (r *rig) record(typ protocol.Type, by *protocol.Actor, turn string, data any) {
	r.t.Helper()
	if err := r.st.Apply(&protocol.Event{
		Session: "s", Seq: r.st.Seq + 1, Turn: turn, Time: r.terms.Now, Type: typ, By: by,
		Data: protocol.MustEncode(data),
	}); err != nil {
		r.t.Fatalf("apply %s: %v", typ, err)
	}
}

// resolve records resolutions and commits them.
func (r *rig) resolve(list ...Resolution) {
	r.t.Helper()
	for _, res := range list {
		r.record(protocol.ApprovalResolved, res.By, res.Turn, res.ApprovalResolvedData)
		deliver := r.p.Resolved(res)
		r.stored[res.Request] = res.Encode()
		deliver(nil)
	}
}

// ask makes a request and records the resulting events.
func (r *rig) ask(a protocol.Approval) *Waiter {
	r.t.Helper()
	w := NewWaiter(a, &policy.Classifier{Dir: "/src"})
	r.terms.ID = fmt.Sprint("new", r.st.Seq)
	asked, decided, err := r.p.Request(r.st, w, w.Request, r.terms)
	switch {
	case err != nil:
		w.Refuse(err)
	case decided != nil:
		w.Deliver(decided)
	case asked != nil:
		r.record(protocol.ApprovalRequested, nil, r.st.Turn.Turn, asked)
		if res, ok := r.p.Asked(r.st, asked, w, r.terms.Policy); ok {
			r.resolve(res)
		}
	}
	return w
}

// answer answers a request as bert and records the resulting events.
func (r *rig) answer(d protocol.ApproveData) (*Answer, error) {
	r.t.Helper()
	r.caller.RuleID = fmt.Sprint("rule", r.st.Seq)
	a, err := r.p.Answer(r.st, r.caller, &d)
	if err == nil && a.Decision != protocol.Explain {
		r.resolve(a.Resolution)
		if rule := a.Resolution.Rule; rule != nil {
			r.resolve(AllowedBy(r.st, rule)...)
		}
	}
	return a, err
}

// verdict returns the verdict that a waiter has got.
func verdict(w *Waiter) (v agent.Verdict, ok bool) {
	select {
	case v = <-w.Verdict:
		return v, true
	default:
		return v, false
	}
}

func question(id string) protocol.Approval {
	return protocol.Approval{Request: id, Kind: protocol.ApproveQuestion, Title: "?"}
}

func command(id, line string) protocol.Approval {
	return protocol.Approval{Request: id, Kind: protocol.ApproveCommand, Title: "run", Command: line, CWD: "/src"}
}

func TestTheFirstDecisionWins(t *testing.T) {
	r := newRig(t)
	w := r.ask(question("q"))
	if _, err := r.answer(protocol.ApproveData{Decision: protocol.AllowOnce}); err != nil {
		t.Fatal(err)
	}
	if v, ok := verdict(w); !ok || v.Outcome != protocol.Allowed || *v.By != bert {
		t.Errorf("verdict %+v, %t", v, ok)
	}
	_, err := r.answer(protocol.ApproveData{Request: "q", Decision: protocol.Deny})
	e := protocol.AsError(err)
	if e.Code != protocol.CodeConflict || e.Winner == nil || e.Winner.Decision != protocol.AllowOnce ||
		e.Message != "already allowed by bert" {
		t.Errorf("the later decision: %+v", e)
	}
	for request, code := range map[string]protocol.Code{"z": protocol.CodeNotFound, "": protocol.CodeNotFound} {
		_, err := r.answer(protocol.ApproveData{Request: request, Decision: protocol.Deny})
		if protocol.CodeOf(err) != code {
			t.Errorf("%q: %v", request, err)
		}
	}
}

func TestAVerdictWaitsForItsCommit(t *testing.T) {
	r := newRig(t)
	w := r.ask(question("q"))
	a, err := r.p.Answer(r.st, r.caller, &protocol.ApproveData{Decision: protocol.Deny})
	if err != nil {
		t.Fatal(err)
	}
	r.record(protocol.ApprovalResolved, a.Resolution.By, a.Resolution.Turn, a.Resolution.ApprovalResolvedData)
	deliver := r.p.Resolved(a.Resolution)
	if _, ok := verdict(w); ok {
		t.Error("delivered before the commit")
	}
	if _, err := r.answer(protocol.ApproveData{Request: "q", Decision: protocol.AllowOnce}); protocol.CodeOf(err) !=
		protocol.CodeConflict {
		t.Errorf("decided again before the commit: %v", err)
	}
	deliver(errors.New("not stored"))
	if _, ok := verdict(w); ok {
		t.Error("delivered after a failed commit")
	}
}

func TestAllWaitersOfARequestGetItsVerdict(t *testing.T) {
	r := newRig(t)
	first, second := r.ask(question("q")), r.ask(question("q"))
	if len(r.st.Approvals) != 1 {
		t.Fatalf("pending %+v", r.st.Approvals)
	}
	if len(r.p.Withdraw(r.st, NewWaiter(question("q"), &policy.Classifier{}))) > 0 {
		t.Error("a stranger withdraws")
	}
	third := r.ask(question("q"))
	if len(r.p.Withdraw(r.st, first)) > 0 {
		t.Error("cancelled although waiters remain")
	}
	if _, err := r.answer(protocol.ApproveData{Decision: protocol.Deny}); err != nil {
		t.Fatal(err)
	}
	for _, w := range []*Waiter{second, third} {
		if v, _ := verdict(w); v.Outcome != protocol.Denied {
			t.Errorf("verdict %+v", v)
		}
	}
	if v, _ := verdict(r.ask(question("q"))); v.Outcome != protocol.Denied {
		t.Errorf("asked again in the turn: %+v", v)
	}
	last := r.ask(question("other"))
	list := r.p.Withdraw(r.st, last)
	if len(list) != 1 || list[0].Outcome != protocol.Cancelled || list[0].Request != "other" {
		t.Errorf("the last waiter has left: %+v", list)
	}
}

func TestADecisionOfAnEarlierTurnDecidesNothing(t *testing.T) {
	r := newRig(t)
	r.ask(question("q"))
	if _, err := r.answer(protocol.ApproveData{Decision: protocol.AllowOnce}); err != nil {
		t.Fatal(err)
	}
	r.record(protocol.TurnEnded, nil, "t1", protocol.TurnEndedData{Reason: protocol.ReasonCompleted})
	r.startTurn("t2")
	w := r.ask(question("q"))
	if _, ok := verdict(w); ok || len(r.st.Approvals) != 1 || r.st.Approvals[0].Request == "q" {
		t.Errorf("pending %+v", r.st.Approvals)
	}
	if _, err := r.answer(protocol.ApproveData{Decision: protocol.Deny}); err != nil {
		t.Error(err)
	}
	_, err := r.answer(protocol.ApproveData{Request: "q", Decision: protocol.Deny})
	if v, _ := verdict(w); v.Outcome != protocol.Denied || protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("verdict %+v, then %v", v, err)
	}
}

func TestARequestIsRefusedIfItCannotBeKept(t *testing.T) {
	r := newRig(t)
	r.failed = errors.New("damaged")
	if v, _ := verdict(r.ask(question("q"))); v.Outcome != protocol.Denied || len(r.st.Approvals) != 0 {
		t.Errorf("what is stored cannot be read: %+v", v)
	}
	r.failed = nil
	r.terms.Limits.Requests = 1
	r.ask(question("a"))
	v, _ := verdict(r.ask(question("b")))
	if v.Outcome != protocol.Denied || v.Reason != "too many requests are pending: ask again when some are decided" {
		t.Errorf("too many: %+v", v)
	}
}

func TestARuleAllowsEqualRequests(t *testing.T) {
	r := newRig(t)
	w := []*Waiter{r.ask(command("1", "ls")), r.ask(command("2", "ls")), r.ask(command("3", "ls -l"))}
	a, err := r.answer(protocol.ApproveData{Request: "1", Decision: protocol.AllowAlways})
	if err != nil || a.Resolution.Rule == nil {
		t.Fatalf("%+v, %v", a, err)
	}
	for i, want := range []bool{true, true, false} {
		if v, ok := verdict(w[i]); ok != want || ok && (v.Outcome != protocol.Allowed || *v.By != bert) {
			t.Errorf("%d: %+v, %t", i, v, ok)
		}
	}
	if v, ok := verdict(r.ask(command("4", "ls"))); !ok || v.Outcome != protocol.Allowed {
		t.Errorf("asked later: %+v, %t", v, ok)
	}
	if _, err := Revoke(r.st, &anna, "none"); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("revoke: %v", err)
	}
	e, err := Revoke(r.st, &anna, a.Resolution.Rule.ID)
	if err != nil {
		t.Fatal(err)
	}
	r.record(e.Type, e.By, "", e.Data)
	if _, ok := verdict(r.ask(command("5", "ls"))); ok {
		t.Error("allowed by a revoked rule")
	}
}

func TestAPolicyResolvesRequests(t *testing.T) {
	r := newRig(t)
	w := r.ask(command("a", "ls"))
	r.terms.Policy = &policy.Decider{Choice: policy.Choice{Policy: policy.Deny}}
	r.resolve(r.p.ByPolicy(r.st, r.terms.Policy)...)
	for name, w := range map[string]*Waiter{"pending": w, "new": r.ask(command("b", "ls"))} {
		if v, ok := verdict(w); !ok || v.Outcome != protocol.Denied || v.By != nil || v.Reason == "" {
			t.Errorf("%s: %+v, %t", name, v, ok)
		}
	}
}

func TestEveryPendingRequestEnds(t *testing.T) {
	r := newRig(t)
	r.terms.Timeout = time.Minute
	short := r.ask(question("short"))
	r.terms.Timeout = time.Hour
	long := r.ask(question("long"))
	if list := Expire(r.st, r.terms.Now.Add(time.Minute-1)); list != nil {
		t.Errorf("too early: %+v", list)
	}
	r.resolve(Expire(r.st, r.terms.Now.Add(time.Minute))...)
	r.resolve(CancelAll(r.st)...)
	for w, want := range map[*Waiter]protocol.Outcome{short: protocol.Expired, long: protocol.Cancelled} {
		if v, ok := verdict(w); !ok || v.Outcome != want || v.Decision != "" {
			t.Errorf("%+v, %t, want %s", v, ok, want)
		}
	}
	if len(r.st.Approvals) != 0 {
		t.Errorf("pending %+v", r.st.Approvals)
	}
}
