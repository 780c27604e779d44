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
)

func (m *machine) who() Caller { return rapid.SampledFrom([]Caller{anna, bert}).Draw(m.rt, "who") }

// act sends a command, with a key half of the time.
func (m *machine) act(verb protocol.Verb, data any) *call {
	c := command(verb, m.id, data)
	if rapid.Bool().Draw(m.rt, "keyed") {
		m.keys++
		c.Key = fmt.Sprint("key", m.keys)
	}
	return m.start(m.who(), c)
}

func (m *machine) text() string { m.texts++; return fmt.Sprint("text", m.texts) }

// message names one that is queued, or one that was: late commands name what is gone.
func (m *machine) message() string {
	ids := m.seen().queue
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

func (m *machine) doSend(t *rapid.T) {
	m.act(protocol.DoSend, protocol.SendData{Text: m.text(), Front: rapid.Bool().Draw(t, "front")})
}

func (m *machine) doInterrupt(t *rapid.T) {
	d := protocol.InterruptData{Queue: rapid.SampledFrom([]string{"", protocol.QueueHold, protocol.QueueClear}).Draw(t, "queue")}
	if runs := m.agents.runs(); len(runs) > 0 && rapid.Bool().Draw(t, "named") {
		d.Turn = rapid.SampledFrom(runs[max(0, len(runs)-2):]).Draw(t, "turn").ID
	}
	m.act(protocol.DoInterrupt, d)
}

func (m *machine) doEdit(*rapid.T) {
	m.act(protocol.DoQueueEdit, protocol.QueueEditData{MessageID: m.message(), Text: m.text()})
}

func (m *machine) doRemove(*rapid.T) {
	m.act(protocol.DoQueueRemove, protocol.QueueRemoveData{MessageID: m.message()})
}

func (m *machine) doMove(t *rapid.T) {
	m.act(protocol.DoQueueMove, protocol.QueueMoveData{MessageID: m.message(), Index: rapid.IntRange(-1, 3).Draw(t, "index")})
}

func (m *machine) doHold(t *rapid.T) {
	d := protocol.QueueHoldData{}
	if rapid.Bool().Draw(t, "edit") {
		d.MessageID = m.message()
	}
	m.act(protocol.DoQueueHold, d)
}

func (m *machine) doRelease(t *rapid.T) {
	d := protocol.QueueReleaseData{}
	if holds := m.seen().holds; len(holds) > 0 && rapid.Bool().Draw(t, "one") {
		d.Hold = rapid.SampledFrom(holds).Draw(t, "hold").ID
	}
	m.act(protocol.DoQueueRelease, d)
}

func (m *machine) doApprove(t *rapid.T) {
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
		m.act(protocol.DoApprove, d)
	}
}

func (m *machine) doRevoke(t *rapid.T) {
	rules := []string{"rule_unknown"}
	for id := range m.seen().rules {
		rules = append(rules, id)
	}
	slices.Sort(rules)
	m.act(protocol.DoRulesRevoke, protocol.RulesRevokeData{Rule: rapid.SampledFrom(rules).Draw(t, "rule")})
}

func (m *machine) doRename(t *rapid.T) {
	name := rapid.SampledFrom([]string{"", "box", "fox"}).Draw(t, "name")
	m.act(protocol.DoRename, protocol.RenameData{Name: &name})
}

// doResend sends a command with a key again, sometimes with another body.
func (m *machine) doResend(t *rapid.T) {
	var keyed []*call
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
	return keyed(command(verb, session, data), key)
}

func (m *machine) running(t *rapid.T) *run {
	r := m.agents.run()
	if r == nil {
		t.Skip("no turn")
	}
	return r
}

func (m *machine) doSay(t *rapid.T) {
	m.running(t).say(rapid.SliceOfN(speech, 1, 8).Draw(t, "events")...)
}

// speech is what an agent says in a turn.
var speech = rapid.Custom(func(t *rapid.T) Event {
	part := rapid.SampledFrom([]string{"p1", "p2"}).Draw(t, "part")
	text := rapid.SampledFrom([]string{"a", "b\n", "ü", strings.Repeat("x", 50<<10)}).Draw(t, "text")
	e := rapid.SampledFrom([]Event{
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

func (m *machine) doAsk(t *rapid.T) {
	a := protocol.Approval{
		Request: rapid.SampledFrom([]string{"", "q1", "q2"}).Draw(t, "request"), Kind: protocol.ApproveCommand, Title: "run",
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

func (m *machine) doFinish(t *rapid.T) {
	r := m.running(t)
	if rapid.Bool().Draw(t, "well") {
		r.finish(End{Reason: protocol.ReasonCompleted}, nil)
	} else {
		r.finish(End{}, errors.New("broke off"))
	}
}

func (m *machine) doAttach(*rapid.T) {
	who := m.who()
	l := &listener{name: who.Conn}
	m.hub.Attach(context.Background(), m.id, l, &protocol.SubscribeData{}, func(a *Attachment, err error) {
		if err == nil && (a.Result.After.Seq > a.Log.Position().Seq || a.Result.Snapshot.State.Seq != a.Result.After.Seq) {
			m.t.Errorf("attached after %d, snapshot %d, visible %d", a.Result.After.Seq, a.Result.Snapshot.State.Seq, a.Log.Position().Seq)
		}
	})
}

func (m *machine) doDetach(*rapid.T) { m.hub.Detach(m.id, m.who().Conn, "") }

func (m *machine) doWait(t *rapid.T) {
	time.Sleep(rapid.SampledFrom([]time.Duration{
		10 * time.Millisecond, 2 * time.Second, 11 * time.Second, 40 * time.Second, 15 * time.Minute,
	}).Draw(t, "time"))
}

func (m *machine) doRestart(t *rapid.T) {
	m.agents.mu.Lock()
	m.agents.deaf = rapid.Bool().Draw(t, "deaf")
	m.agents.mu.Unlock()
	if rapid.Bool().Draw(t, "killed") {
		m.kill()
	} else {
		m.restart()
	}
}

func (m *machine) doClose(t *rapid.T) {
	if rapid.IntRange(0, 5).Draw(t, "rarely") == 0 {
		m.act(protocol.DoClose, protocol.CloseData{})
	}
}

// doFail makes the next commits fail, and sometimes reads.
func (m *machine) doFail(t *rapid.T) {
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
		m.store.failCommit = func([]*Batch) error { return failure(&commits) }
		m.store.failRead = func() error { return failure(&reads) }
	})
	if r := m.agents.run(); r != nil && rapid.Bool().Draw(t, "lost words") {
		delta := Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p1", Text: "lost"}}
		r.say(delta, delta, delta)
	}
}
