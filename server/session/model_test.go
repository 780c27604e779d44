package session

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/eventlog"
)

// noDeadline hides the deadline of a test, which a synctest bubble has passed.
type noDeadline struct{ rapid.TB }

// modelTest is a session under random commands, agents, connections, restarts and faults.
type modelTest struct {
	*testHub
	id      string
	rt      *rapid.T
	texts   int
	keys    int
	healthy bool                // the store works, and the session has recovered
	reader  []string            // lines that a reader of the log has read
	handed  map[string]*fakeRun // message that an agent took → its run

	// The stored events of the session so far, reduced: its log only grows.
	log        *logChecker
	state      *protocol.State
	transcript protocol.Transcript
}

func TestAnyInterleavingKeepsTheInvariants(t *testing.T) { runModel(t, false) }

func TestAnyInterleavingWithFaultsOfTheStoreKeepsTheInvariants(t *testing.T) { runModel(t, true) }

func runModel(t *testing.T, faulty bool) {
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(noDeadline{t}, func(rt *rapid.T) {
			m := &modelTest{rt: rt, healthy: true, handed: map[string]*fakeRun{}}
			m.testHub = newTestHub(
				rt,
				Config{ApprovalTimeout: rapid.SampledFrom([]time.Duration{0, time.Minute}).Draw(rt, "timeout")},
			)
			defer func() { _ = m.hub.Close(context.Background()) }()
			m.agents.capabilities = agent.Capabilities{
				Resumes:     rapid.Bool().Draw(rt, "resumes"),
				TakesReason: rapid.Bool().Draw(rt, "takes reason"),
			}
			m.agents.steers = rapid.Bool().Draw(rt, "steers")
			m.id = m.create()
			m.log, m.state = newLogChecker(rt), &protocol.State{Session: m.id}
			m.store.set(func() {
				m.store.latency = rapid.SampledFrom([]time.Duration{0, 20 * time.Millisecond}).Draw(rt, "latency")
			})
			actions := map[string]func(*rapid.T){
				"send":      m.doSend,
				"interrupt": m.doInterrupt,
				"edit":      m.doEdit,
				"remove":    m.doRemove,
				"move":      m.doMove,
				"steer":     m.doSteer,
				"take":      m.doTake,
				"resolve":   m.doResolve,
				"hold":      m.doHold,
				"release":   m.doRelease,
				"approve":   m.doApprove,
				"revoke":    m.doRevoke,
				"rename":    m.doRename,
				"resend":    m.doResend,
				"emit":      m.doEmit,
				"ask":       m.doAsk,
				"finish":    m.doFinish,
				"attach":    m.doAttach,
				"detach":    m.doDetach,
				"emit more": m.doEmit,
				"ask more":  m.doAsk,
				"send more": m.doSend,
				"wait":      m.doWait,
				"restart":   m.doRestart,
				"close":     m.doClose,
			}
			if faulty {
				actions["fail"] = m.doFailStore
				actions["repair"] = func(*rapid.T) { m.repairStore() }
			}
			for name, do := range actions {
				actions[name] = func(rt *rapid.T) { m.rt = rt; do(rt); synctest.Wait() }
			}
			actions[""] = func(*rapid.T) { m.check() }
			rt.Repeat(actions)
			m.repairStore()
			m.check()
			m.restart()
			m.waitIdle()
			m.check()
			checkRestored(m.testHub, m.id)
			m.close()
			m.checkAnswered()
			m.checkAnswers()
			m.checkShownIsStored()
			if len(m.store.faults) > 0 {
				rt.Fatalf("invalid batches: %v", m.store.faults)
			}
		})
	})
}

// repairStore makes the store work again and waits for the session to recover.
func (m *modelTest) repairStore() {
	m.store.set(func() { m.store.failCommit, m.store.failRead = nil, nil })
	for range 4 {
		time.Sleep(1100 * time.Millisecond)
		m.waitIdle()
	}
	m.healthy = true
}

// stored returns the stored lines of the session after a seq.
func (m *modelTest) stored(after uint64) []byte {
	m.store.mu.Lock()
	defer m.store.mu.Unlock()
	return bytes.Join(m.store.sessions[m.id].lines[after:], nil)
}

// replayed applies the stored events since its last call, and returns the logChecker.
func (m *modelTest) replayed() *logChecker {
	m.rt.Helper()
	m.log.t = m.rt
	events := decodeLines(m.rt, m.stored(m.log.seq))
	m.log.apply(events)
	for i := range events {
		if err := m.state.Apply(&events[i]); err != nil {
			m.rt.Fatalf("apply: %v", err)
		}
		if _, err := m.transcript.Apply(&events[i]); err != nil {
			m.rt.Fatalf("transcript: %v", err)
		}
	}
	return m.log
}

// check checks the invariants of the store and, between commits, of the session in memory.
func (m *modelTest) check() {
	m.rt.Helper()
	synctest.Wait()
	m.readNew()
	m.replayed()
	folded := m.events(m.id, true)
	if encodeTranscript(m.rt, &m.transcript) != transcript(m.rt, folded) {
		m.rt.Fatalf("transcripts differ: folded %v, raw %v", types(folded), types(m.events(m.id, false)))
	}
	if again := reduce(m.rt, m.id, folded); string(encodeState(m.state)) != string(encodeState(again)) {
		m.rt.Fatalf("folded events reduce to %s, raw ones to %s", encodeState(again), encodeState(m.state))
	}
	if m.busy() || !m.healthy {
		return
	}
	s, err := m.hub.acquire(context.Background(), m.id)
	if err != nil {
		m.rt.Fatalf("load: %v", err)
	}
	synctest.Wait()
	if m.busy() { // loading ended a turn
		return
	}
	state, edited := new(protocol.State), map[string]bool{}
	asked := make(chan struct{})
	s.mail.post(func() {
		defer close(asked)
		if err := json.Unmarshal(encodeState(s.state), state); err != nil {
			m.t.Errorf("state: %v", err)
		}
		for _, h := range state.Holds {
			edited[h.ID] = s.queue.Knows(h.ID)
		}
	})
	<-asked
	a := m.replayed()
	a.checkState(state)
	if string(encodeState(m.state)) != string(encodeState(state)) {
		m.rt.Fatalf("the session has state %s, its events reduce to %s", encodeState(state), encodeState(m.state))
	}
	switch r := m.agents.run(); {
	case state.Turn != nil && (r == nil || r.turn.ID != state.Turn.Turn):
		m.rt.Fatalf("no agent runs turn %s", state.Turn.Turn)
	case state.Turn == nil && !state.Closed && len(state.Queue) > 0 && !a.blocked():
		m.rt.Fatalf("the queue is not held and no turn runs: %v", a.queue)
	}
	for _, h := range state.Holds {
		if h.Reason == protocol.HoldEdit && !edited[h.ID] && !state.Closed {
			m.rt.Fatalf("edit hold %s has no timeout", h.ID)
		}
	}
	m.read(s.journal.Log(), false)
	m.read(s.journal.Log(), true)
}

// busy reports whether a commit is in flight.
func (m *modelTest) busy() bool {
	m.store.mu.Lock()
	defer m.store.mu.Unlock()
	return m.store.committing
}

// readNew reads the new visible lines, also during a commit and while the store fails.
func (m *modelTest) readNew() {
	m.rt.Helper()
	s := m.hub.list.Loaded(m.id)
	if s == nil {
		return
	}
	for {
		lines, last, err := s.journal.Log().Read(context.Background(), uint64(len(m.reader)), false, 1<<20)
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

// checkShownIsStored fails the test unless every line that was visible is in the store, unchanged.
func (m *modelTest) checkShownIsStored() {
	m.rt.Helper()
	kept := m.store.sessions[m.id].lines
	if len(m.reader) > len(kept) {
		m.rt.Fatalf("%d lines shown, %d stored", len(m.reader), len(kept))
	}
	for i, line := range m.reader {
		if line != string(kept[i]) {
			m.rt.Fatalf("shown: %.300s\nstored: %.300s", line, kept[i])
		}
	}
}

// read reads a session's log as a connection does, after replayed.
func (m *modelTest) read(log *eventlog.Log, folded bool) {
	m.rt.Helper()
	var all []byte
	for after := uint64(0); after < log.Position().Seq; {
		lines, last, err := log.Read(context.Background(), after, folded, 64<<10)
		if err != nil || last <= after {
			m.rt.Fatalf("read after %d: %d, %v", after, last, err)
		}
		all = append(all, lines...)
		after = last
	}
	if !folded {
		if stored := m.stored(0); !bytes.Equal(all, stored) {
			m.rt.Fatalf("the log has %s, the store %s", all, stored)
		}
		return
	}
	got := reduce(m.rt, m.id, decodeLines(m.rt, all))
	if string(encodeState(got)) != string(encodeState(m.state)) {
		m.rt.Fatalf("the log reduces to %s, the store to %s", encodeState(got), encodeState(m.state))
	}
}

// checkAnswers fails the test unless every answer agrees with the events, which were stored before
// it.
func (m *modelTest) checkAnswers() {
	m.rt.Helper()
	a := m.replayed()
	bodies := map[string]string{}
	for _, k := range m.calls {
		wrong := func(why string, seq uint64) {
			m.rt.Helper()
			m.rt.Fatalf(
				"%s %s by %s answered %s, %v at %d: %s (%d)",
				k.cmd.Command,
				k.cmd.Data,
				k.who.By.Name,
				k.body,
				k.err,
				k.head,
				why,
				seq,
			)
		}
		if k.err == nil && k.cmd.Key != "" {
			if body, ok := bodies[k.cmd.Key]; ok && body != string(k.body) {
				wrong("one key, two answers: "+body, 0)
			}
			bodies[k.cmd.Key] = string(k.body)
		}
		switch k.cmd.Command {
		case protocol.DoSend:
			m.checkSend(a, k, wrong)
		case protocol.DoInterrupt:
			var r protocol.InterruptResult
			if k.err == nil && json.Unmarshal(k.body, &r) == nil && r.Interrupted {
				if end := a.ends[r.Turn]; end.seq == 0 || end.seq > k.head ||
					end.reason != protocol.ReasonInterrupted && end.reason != protocol.ReasonDenied {
					wrong("the turn ended otherwise", end.seq)
				}
			}
		case protocol.DoQueueRemove:
			var d protocol.QueueRemoveData
			var r protocol.QueueRemoveResult
			_ = json.Unmarshal(k.cmd.Data, &d)
			if k.err == nil && json.Unmarshal(k.body, &r) == nil && r.Removed && a.status[d.MessageID] != "removed" {
				wrong("it was "+a.status[d.MessageID], 0)
			}
		case protocol.DoApprove:
			m.checkApprove(a, k, wrong)
		}
	}
}

func (m *modelTest) checkSend(a *logChecker, k *testCall, wrong func(string, uint64)) {
	var d protocol.SendData
	_ = json.Unmarshal(k.cmd.Data, &d)
	if k.err != nil {
		again := slices.ContainsFunc(m.calls, func(o *testCall) bool {
			return o.err == nil && o.cmd.Key == k.cmd.Key && string(o.cmd.Data) == string(k.cmd.Data)
		})
		if seq := a.texts[d.Text]; seq != 0 && !again {
			wrong("refused, but in the log", seq)
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
		wrong("differs from the log", at)
	}
}

func (m *modelTest) checkApprove(a *logChecker, k *testCall, wrong func(string, uint64)) {
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
		if v.by != e.Winner.By || v.Decision != e.Winner.Decision || v.Outcome != e.Winner.Outcome ||
			v.Option != e.Winner.Option {
			wrong("another decision won", v.seq)
		}
	}
}
