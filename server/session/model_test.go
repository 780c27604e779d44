package session

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"agentctl/protocol"
)

// noDeadline hides a test's deadline, which cannot be asked for in a bubble.
type noDeadline struct{ rapid.TB }

// machine is a session under random commands, agents, connections, restarts and faults.
type machine struct {
	*rig
	id      string
	rt      *rapid.T
	texts   int
	keys    int
	healthy bool     // the store, and the session has mended
	reader  []string // lines that a reader of the log was shown
}

func TestAnyInterleavingKeepsTheInvariants(t *testing.T) { explore(t, false) }

func TestAnyInterleavingWithFaultsOfTheStoreKeepsTheInvariants(t *testing.T) { explore(t, true) }

func explore(t *testing.T, faulty bool) {
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(noDeadline{t}, func(rt *rapid.T) {
			m := &machine{rt: rt, healthy: true}
			m.rig = newRig(rt, Config{ApprovalTimeout: rapid.SampledFrom([]time.Duration{0, time.Minute}).Draw(rt, "timeout")})
			defer func() { _ = m.hub.Close(context.Background()) }()
			m.agents.traits = Capabilities{Resumes: rapid.Bool().Draw(rt, "resumes"), TakesReason: rapid.Bool().Draw(rt, "takes reason")}
			m.id = m.create()
			m.store.set(func() {
				m.store.latency = rapid.SampledFrom([]time.Duration{0, 20 * time.Millisecond}).Draw(rt, "latency")
			})
			actions := map[string]func(*rapid.T){
				"send": m.doSend, "interrupt": m.doInterrupt, "edit": m.doEdit, "remove": m.doRemove, "move": m.doMove,
				"hold": m.doHold, "release": m.doRelease, "approve": m.doApprove, "revoke": m.doRevoke, "rename": m.doRename,
				"resend": m.doResend, "say": m.doSay, "ask": m.doAsk, "finish": m.doFinish, "attach": m.doAttach,
				"detach": m.doDetach, "say more": m.doSay, "ask more": m.doAsk, "send more": m.doSend, "wait": m.doWait, "restart": m.doRestart, "close": m.doClose,
			}
			if faulty {
				actions["fail"] = m.doFail
				actions["heal"] = func(*rapid.T) { m.heal() }
			}
			for name, do := range actions {
				actions[name] = func(rt *rapid.T) { m.rt = rt; do(rt); synctest.Wait() }
			}
			actions[""] = func(*rapid.T) { m.look() }
			rt.Repeat(actions)
			m.heal()
			m.look()
			m.restart()
			m.settle()
			m.look()
			m.close()
			m.answered()
			m.answersHold()
			m.shownIsKept()
			if len(m.store.faults) > 0 {
				rt.Fatalf("the store was given %v", m.store.faults)
			}
		})
	})
}

// heal ends what was broken and lets the session mend.
func (m *machine) heal() {
	m.store.set(func() { m.store.failCommit, m.store.failRead = nil, nil })
	for range 4 {
		time.Sleep(1100 * time.Millisecond)
		m.settle()
	}
	m.healthy = true
}

// seen audits what the store holds.
func (m *machine) seen() *audit {
	m.rt.Helper()
	a := newAudit(m.rt)
	a.follow(m.events(m.id, false))
	return a
}

// look checks the invariants of what is kept, and, when nothing is under way, of the session in memory.
func (m *machine) look() {
	m.rt.Helper()
	synctest.Wait()
	m.readOn()
	m.seen()
	raw, folded := m.events(m.id, false), m.events(m.id, true)
	if transcript(m.rt, raw) != transcript(m.rt, folded) {
		m.rt.Fatalf("folded events say something else: %v, raw %v", types(folded), types(raw))
	}
	kept, again := fold(m.rt, m.id, raw), fold(m.rt, m.id, folded)
	if string(encodeState(kept)) != string(encodeState(again)) {
		m.rt.Fatalf("folded events fold to %s, raw ones to %s", encodeState(again), encodeState(kept))
	}
	if m.busy() || !m.healthy {
		return
	}
	s, err := m.hub.acquire(context.Background(), m.id)
	if err != nil {
		m.rt.Fatalf("load: %v", err)
	}
	synctest.Wait()
	if m.busy() { // loading has ended a turn
		return
	}
	state, edited := new(protocol.State), map[string]bool{}
	asked := make(chan struct{})
	s.post(func() {
		defer close(asked)
		if err := json.Unmarshal(encodeState(s.state), state); err != nil {
			m.t.Errorf("state: %v", err)
		}
		for hold := range s.editors {
			edited[hold] = true
		}
	})
	<-asked
	a := m.seen()
	a.agrees(state)
	if kept = fold(m.rt, m.id, m.events(m.id, false)); string(encodeState(kept)) != string(encodeState(state)) {
		m.rt.Fatalf("the session is at %s, its events fold to %s", encodeState(state), encodeState(kept))
	}
	switch r := m.agents.run(); {
	case state.Turn != nil && (r == nil || r.turn.ID != state.Turn.Turn):
		m.rt.Fatalf("nobody works on turn %s", state.Turn.Turn)
	case state.Turn == nil && !state.Closed && len(state.Queue) > 0 && !a.blocked():
		m.rt.Fatalf("nothing holds the queue, and nothing runs: %v", a.queue)
	}
	for _, h := range state.Holds {
		if h.Reason == protocol.HoldEdit && !edited[h.ID] && !state.Closed {
			m.rt.Fatalf("edit hold %s will never end", h.ID)
		}
	}
	m.read(s.log, false)
	m.read(s.log, true)
}

// busy reports whether a commit is under way.
func (m *machine) busy() bool {
	m.store.mu.Lock()
	defer m.store.mu.Unlock()
	return m.store.committing
}

// readOn shows the reader what is visible now, also while a commit is under way or the store fails.
func (m *machine) readOn() {
	m.rt.Helper()
	row := m.hub.rows[m.id]
	row.load.Lock()
	s := row.session
	row.load.Unlock()
	if s == nil {
		return
	}
	for {
		lines, last, err := s.log.Read(context.Background(), uint64(len(m.reader)), false, 1<<20, nil)
		for line := range strings.Lines(string(lines)) {
			m.reader = append(m.reader, line)
		}
		if err != nil || len(lines) == 0 {
			return
		}
		if last != uint64(len(m.reader)) {
			m.rt.Fatalf("read to %d, %d lines", last, len(m.reader))
		}
	}
}

// shownIsKept fails the test unless everything that the reader was shown is in the store, as it was shown.
func (m *machine) shownIsKept() {
	m.rt.Helper()
	kept := m.store.sessions[m.id].lines
	if len(m.reader) > len(kept) {
		m.rt.Fatalf("%d lines were shown, %d kept", len(m.reader), len(kept))
	}
	for i, line := range m.reader {
		if line != string(kept[i]) {
			m.rt.Fatalf("shown: %.300s\nkept: %.300s", line, kept[i])
		}
	}
}

// read reads a session's log as a connection does.
func (m *machine) read(log *Log, folded bool) {
	m.rt.Helper()
	var events []protocol.Event
	var buf []byte
	for after := uint64(0); after < log.Position().Seq; {
		lines, last, err := log.Read(context.Background(), after, folded, 64<<10, buf)
		if err != nil || last <= after {
			m.rt.Fatalf("read after %d: %d, %v", after, last, err)
		}
		events = append(events, decodeLines(m.rt, lines)...)
		after = last
	}
	if !folded {
		newAudit(m.rt).follow(events)
	}
	if got, want := fold(m.rt, m.id, events), fold(m.rt, m.id, m.events(m.id, false)); string(encodeState(got)) != string(encodeState(want)) {
		m.rt.Fatalf("the log folds to %s, the store to %s", encodeState(got), encodeState(want))
	}
}

// answersHold fails the test unless every answer tells what the events tell, and was given when they were kept.
func (m *machine) answersHold() {
	m.rt.Helper()
	a := m.seen()
	bodies := map[string]string{}
	for _, k := range m.calls {
		wrong := func(why string, seq uint64) {
			m.rt.Helper()
			m.rt.Fatalf("%s %s by %s answered %s, %v at %d: %s (%d)", k.cmd.Command, k.cmd.Data, k.who.By.Name, k.body, k.err, k.head, why, seq)
		}
		if k.err == nil && k.cmd.Key != "" {
			if body, ok := bodies[k.cmd.Key]; ok && body != string(k.body) {
				wrong("one key, another answer: "+body, 0)
			}
			bodies[k.cmd.Key] = string(k.body)
		}
		switch k.cmd.Command {
		case protocol.DoSend:
			m.sendHolds(a, k, wrong)
		case protocol.DoInterrupt:
			var r protocol.InterruptResult
			if k.err == nil && json.Unmarshal(k.body, &r) == nil && r.Interrupted {
				if end := a.ends[r.Turn]; end.seq == 0 || end.seq > k.head || end.reason != protocol.ReasonInterrupted && end.reason != protocol.ReasonDenied {
					wrong("the turn has not ended so", end.seq)
				}
			}
		case protocol.DoQueueRemove:
			var d protocol.QueueRemoveData
			var r protocol.QueueRemoveResult
			_ = json.Unmarshal(k.cmd.Data, &d)
			if k.err == nil && json.Unmarshal(k.body, &r) == nil && r.Removed && a.fate[d.MessageID] != "removed" {
				wrong("it was "+a.fate[d.MessageID], 0)
			}
		case protocol.DoApprove:
			m.approveHolds(a, k, wrong)
		}
	}
}

func (m *machine) sendHolds(a *audit, k *call, wrong func(string, uint64)) {
	var d protocol.SendData
	_ = json.Unmarshal(k.cmd.Data, &d)
	if k.err != nil {
		again := slices.ContainsFunc(m.calls, func(o *call) bool {
			return o.err == nil && o.cmd.Key == k.cmd.Key && string(o.cmd.Data) == string(k.cmd.Data)
		})
		if seq := a.texts[d.Text]; seq != 0 && !again {
			wrong("refused, and in the log", seq)
		}
		return
	}
	var r protocol.SendResult
	_ = json.Unmarshal(k.body, &r)
	at := a.queued[r.MessageID]
	if r.Status == protocol.SendStarted {
		at = a.started[r.MessageID]
	}
	if at == 0 || at != r.Seq || r.Seq > k.head {
		wrong("not so in the log", at)
	}
}

func (m *machine) approveHolds(a *audit, k *call, wrong func(string, uint64)) {
	var r protocol.ApproveResult
	switch e := protocol.AsError(k.err); {
	case k.err == nil && json.Unmarshal(k.body, &r) == nil && r.Outcome != "":
		v := a.resolved[r.Request]
		if v.by != k.who.By || v.Decision != r.Decision || v.Outcome != r.Outcome || v.seq > k.head {
			wrong("decided otherwise", v.seq)
		}
	case k.err != nil && e.Winner != nil:
		var d protocol.ApproveData
		_ = json.Unmarshal(k.cmd.Data, &d)
		v := a.resolved[d.Request]
		if v.by != e.Winner.By || v.Decision != e.Winner.Decision || v.Outcome != e.Winner.Outcome || v.Option != e.Winner.Option {
			wrong("another one won", v.seq)
		}
	}
}
