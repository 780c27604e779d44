package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/eventlog"
)

func (m *modelTest) who() Caller { return rapid.SampledFrom([]Caller{anna, bert}).Draw(m.rt, "who") }

// sendRandomly sends a command, half of the time with a key.
func (m *modelTest) sendRandomly(verb protocol.Verb, data any) *testCall {
	c := newCommand(verb, m.id, data)
	if rapid.Bool().Draw(m.rt, "keyed") {
		m.keys++
		c.Key = fmt.Sprint("key", m.keys)
	}
	return m.start(m.who(), c)
}

func (m *modelTest) text() string { m.texts++; return fmt.Sprint("text", m.texts) }

// message returns the id of a message that is or was queued, or an unknown one.
func (m *modelTest) message() string {
	ids := m.replayed().queue
	if len(ids) == 0 || rapid.IntRange(0, 3).Draw(m.rt, "any") == 0 {
		ids = []string{"m_unknown"}
		for _, e := range m.events(m.id, false) {
			if e.Type == protocol.QueueAdded {
				var d protocol.QueueAddedData
				_ = e.Decode(&d)
				ids = append(ids, d.MessageID)
			}
		}
	}
	return rapid.SampledFrom(ids).Draw(m.rt, "message")
}

func (m *modelTest) doSend(t *rapid.T) {
	m.sendRandomly(protocol.DoSend, protocol.SendData{
		Text: m.text(), Front: rapid.Bool().Draw(t, "front"),
		Delivery: rapid.SampledFrom([]protocol.Delivery{"", protocol.DeliverSteer}).Draw(t, "delivery"),
	})
}

func (m *modelTest) doSteer(*rapid.T) {
	m.sendRandomly(protocol.DoQueueSteer, protocol.QueueSteerData{MessageID: m.message()})
}

// doTake lets the agent take messages. Each was recorded as sent before, and reaches an agent once, except
// one that resumes the turn.
func (m *modelTest) doTake(t *rapid.T) {
	r := m.running(t)
	r.take(func(taken protocol.Message) {
		status := m.replayed().status[taken.MessageID]
		m.mu.Lock()
		defer m.mu.Unlock()
		by := m.handed[taken.MessageID]
		switch {
		case status != "steered" && status != string(protocol.SteerUnknown) && status != string(protocol.SteerRefused):
			m.t.Errorf("%s was handed to the agent, the log has %q", taken.MessageID, status)
		case by == r, by != nil && by.turn.ID == r.turn.ID && !r.turn.Resumed:
			m.t.Errorf("%s was handed twice", taken.MessageID)
		}
		m.handed[taken.MessageID] = r
	})
}

func (m *modelTest) doResolve(t *rapid.T) {
	m.running(t).resolve(rapid.SampledFrom([]protocol.SteerOutcome{
		protocol.SteerTakenIn, protocol.SteerTakenIn, protocol.SteerRefused,
	}).Draw(t, "outcome"))
}

func (m *modelTest) doInterrupt(t *rapid.T) {
	d := protocol.InterruptData{
		Queue: rapid.SampledFrom([]string{"", protocol.QueueHold, protocol.QueueClear}).Draw(t, "queue"),
	}
	if runs := m.agents.runs(); len(runs) > 0 && rapid.Bool().Draw(t, "named") {
		d.Turn = rapid.SampledFrom(runs[max(0, len(runs)-2):]).Draw(t, "turn").ID
	}
	m.sendRandomly(protocol.DoInterrupt, d)
}

func (m *modelTest) doEdit(*rapid.T) {
	m.sendRandomly(protocol.DoQueueEdit, protocol.QueueEditData{MessageID: m.message(), Text: m.text()})
}

func (m *modelTest) doRemove(*rapid.T) {
	m.sendRandomly(protocol.DoQueueRemove, protocol.QueueRemoveData{MessageID: m.message()})
}

func (m *modelTest) doMove(t *rapid.T) {
	m.sendRandomly(
		protocol.DoQueueMove,
		protocol.QueueMoveData{MessageID: m.message(), Index: rapid.IntRange(-1, 3).Draw(t, "index")},
	)
}

func (m *modelTest) doHold(t *rapid.T) {
	d := protocol.QueueHoldData{}
	if rapid.Bool().Draw(t, "edit") {
		d.MessageID = m.message()
	}
	m.sendRandomly(protocol.DoQueueHold, d)
}

func (m *modelTest) doRelease(t *rapid.T) {
	d := protocol.QueueReleaseData{}
	if holds := m.replayed().holds; len(holds) > 0 && rapid.Bool().Draw(t, "one") {
		d.Hold = rapid.SampledFrom(holds).Draw(t, "hold").ID
	}
	m.sendRandomly(protocol.DoQueueRelease, d)
}

func (m *modelTest) doApprove(t *rapid.T) {
	d := protocol.ApproveData{Reason: rapid.SampledFrom([]string{"", "because"}).Draw(t, "reason")}
	requests := []string{"", "unknown"}
	for _, e := range m.events(m.id, false) {
		if e.Type == protocol.ApprovalRequested {
			var a protocol.Approval
			_ = e.Decode(&a)
			requests = append(requests, a.Request)
		}
	}
	d.Request = rapid.SampledFrom(requests[max(0, len(requests)-4):]).Draw(t, "request")
	if rapid.Bool().Draw(t, "by option") {
		d.Option = rapid.SampledFrom([]string{"yes", "deny", "deny_stop", "explain", "none"}).Draw(t, "option")
	} else {
		d.Decision = rapid.SampledFrom([]protocol.Decision{
			protocol.AllowOnce, protocol.AllowAlways, protocol.Deny, protocol.DenyStop, protocol.Explain, "maybe",
		}).Draw(t, "decision")
	}
	for range rapid.IntRange(1, 2).Draw(t, "times") {
		m.sendRandomly(protocol.DoApprove, d)
	}
}

func (m *modelTest) doRevoke(t *rapid.T) {
	rules := []string{"rule_unknown"}
	for id := range m.replayed().rules {
		rules = append(rules, id)
	}
	slices.Sort(rules)
	m.sendRandomly(protocol.DoRulesRevoke, protocol.RulesRevokeData{Rule: rapid.SampledFrom(rules).Draw(t, "rule")})
}

func (m *modelTest) doRename(t *rapid.T) {
	name := rapid.SampledFrom([]string{"", "box", "fox"}).Draw(t, "name")
	m.sendRandomly(protocol.DoRename, protocol.RenameData{Name: &name})
}

// doResend sends a command with a key again, sometimes with another body.
func (m *modelTest) doResend(t *rapid.T) {
	var keyed []*testCall
	for _, k := range m.calls {
		if k.cmd.Key != "" {
			keyed = append(keyed, k)
		}
	}
	if len(keyed) == 0 {
		t.Skip("nothing to send again")
	}
	k := rapid.SampledFrom(keyed).Draw(t, "which")
	c := k.cmd
	if rapid.Bool().Draw(t, "other body") {
		c = keyedCommand(protocol.DoSend, c.Session, c.Key, protocol.SendData{Text: m.text()})
	}
	m.start(k.who, c)
}

func keyedCommand(verb protocol.Verb, session, key string, data any) protocol.Command {
	return keyed(newCommand(verb, session, data), key)
}

func (m *modelTest) running(t *rapid.T) *fakeRun {
	r := m.agents.run()
	if r == nil {
		t.Skip("no turn")
	}
	return r
}

func (m *modelTest) doEmit(t *rapid.T) {
	m.running(t).emit(rapid.SliceOfN(randomEvent, 1, 8).Draw(t, "events")...)
}

// randomEvent generates output of an agent in a turn.
var randomEvent = rapid.Custom(func(t *rapid.T) agent.Event {
	part := rapid.SampledFrom([]string{"p1", "p2"}).Draw(t, "part")
	text := rapid.SampledFrom([]string{"a", "b\n", "ü", strings.Repeat("x", 50<<10)}).Draw(t, "text")
	e := rapid.SampledFrom([]agent.Event{
		{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: part, Text: text}},
		{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: part, Text: text}},
		{Type: protocol.ReasoningDelta, Data: protocol.PartDeltaData{Part: part, Text: text}},
		{Type: protocol.TextEnd, Data: protocol.PartEndData{Part: part}},
		{Type: protocol.ToolStarted, Data: protocol.ToolStartedData{Tool: part, Name: "sh"}},
		{Type: protocol.ToolInput, Data: protocol.ToolInputData{Tool: part, Text: text}},
		{Type: protocol.ToolInput, Data: protocol.ToolInputData{Tool: part, Input: json.RawMessage(`{"a": 1}`)}},
		{Type: protocol.ToolOutput, Data: protocol.ToolOutputData{Tool: part, Text: text}},
		{Type: protocol.ToolOutput, Data: protocol.ToolOutputData{Tool: part, Text: text, Replace: true}},
		{Type: protocol.ToolEnded, Data: protocol.ToolEndedData{Tool: part, Status: protocol.ToolCompleted}},
		{Type: protocol.UsageUpdated, Data: protocol.Usage{Input: 1}},
		{Type: protocol.PlanUpdated, Data: protocol.PlanTasksData{Tasks: []protocol.Task{{ID: "t1"}}}},
	}).Draw(t, "event")
	e.Task = rapid.SampledFrom([]string{"", "t1"}).Draw(t, "task")
	return e
})

func (m *modelTest) doAsk(t *rapid.T) {
	a := protocol.Approval{
		Request: rapid.SampledFrom(
			[]string{"", "q1", "q2"},
		).Draw(
			t,
			"request",
		),
		Kind:    protocol.ApproveCommand,
		Title:   "run",
		Command: rapid.SampledFrom([]string{"ls", "rm"}).Draw(t, "command"),
		Options: []protocol.Option{{ID: "yes", Kind: protocol.AllowOnce}},
	}
	ctx := context.Background()
	if rapid.IntRange(0, 4).Draw(t, "gives up") == 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, 10*time.Millisecond)
		time.AfterFunc(20*time.Millisecond, cancel)
	}
	m.running(t).askUntil(ctx, a)
}

func (m *modelTest) doFinish(t *rapid.T) {
	r := m.running(t)
	if rapid.Bool().Draw(t, "well") {
		r.finish(agent.End{Reason: protocol.ReasonCompleted}, nil)
	} else {
		r.finish(agent.End{}, errors.New("broke off"))
	}
}

func (m *modelTest) doAttach(*rapid.T) {
	who := m.who()
	l := &testSubscriber{name: who.Conn}
	m.hub.Attach(context.Background(), m.id, l, &protocol.SubscribeData{}, func(a *Attachment, err error) {
		if err == nil &&
			(a.Result.After.Seq > a.Log.Position().Seq || a.Result.Snapshot.State.Seq != a.Result.After.Seq) {
			m.t.Errorf(
				"attached after %d, snapshot %d, visible %d",
				a.Result.After.Seq,
				a.Result.Snapshot.State.Seq,
				a.Log.Position().Seq,
			)
		}
	})
}

func (m *modelTest) doDetach(*rapid.T) { m.hub.Detach(m.id, m.who().Conn, "") }

func (m *modelTest) doWait(t *rapid.T) {
	time.Sleep(rapid.SampledFrom([]time.Duration{
		10 * time.Millisecond, 2 * time.Second, 11 * time.Second, 40 * time.Second, 15 * time.Minute,
	}).Draw(t, "time"))
}

func (m *modelTest) doRestart(t *rapid.T) {
	m.agents.mu.Lock()
	m.agents.ignoresInterrupt = rapid.Bool().Draw(t, "deaf")
	m.agents.mu.Unlock()
	if rapid.Bool().Draw(t, "killed") {
		m.kill()
	} else {
		m.restart()
	}
}

func (m *modelTest) doClose(t *rapid.T) {
	if rapid.IntRange(0, 5).Draw(t, "rarely") == 0 {
		m.sendRandomly(protocol.DoClose, protocol.CloseData{})
	}
}

// doFailStore makes the next commits fail, and sometimes the next reads.
func (m *modelTest) doFailStore(t *rapid.T) {
	m.healthy = false
	commits, reads := rapid.IntRange(1, 3).Draw(t, "commits"), rapid.SampledFrom([]int{0, 0, 2}).Draw(t, "reads")
	failure := func(left *int) error {
		if *left == 0 {
			return nil
		}
		*left--
		return errors.New("disk full")
	}
	m.store.set(func() {
		m.store.failCommit = func([]*eventlog.Batch) error { return failure(&commits) }
		m.store.failRead = func() error { return failure(&reads) }
	})
	if r := m.agents.run(); r != nil && rapid.Bool().Draw(t, "lost words") {
		delta := agent.Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p1", Text: "lost"}}
		r.emit(delta, delta, delta)
	}
}
