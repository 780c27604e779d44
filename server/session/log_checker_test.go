package session

import (
	"encoding/json"
	"slices"

	"agentctl/protocol"
)

// logChecker applies a session's raw events to a model that is independent of State.Apply, and
// fails at the first event that breaks a rule.
type logChecker struct {
	t         testingT
	seq       uint64
	queue     []string
	status    map[string]string // message → queued, started, removed, steered, or its outcome
	holds     []protocol.Hold
	turn      string
	turns     map[string]string // turn → begun, started, ended
	starting  string            // left the queue to start: its message.user is the next event
	steering  string            // joined the turn: its queue.removed is the next event
	returning string            // queued again: its refusal is the next event
	parts     map[string]bool
	tools     map[string]bool
	pending   []string
	resolved  map[string]verdict
	rules     map[string]bool
	texts     map[string]uint64 // text of a user's message → seq of its first event
	started   map[string]uint64 // message → seq of its message.user
	queued    map[string]uint64 // message → seq of its queue.added
	ends      map[string]turnEnd
	removedBy map[string]string // message → remover
	closed    bool
	restored  bool // decisions may be by rules of the exported session
	past      bool // the last message that joined a turn did so in the exported session
}

type verdict struct {
	protocol.ApprovalResolvedData
	by  protocol.Actor
	seq uint64
}

type turnEnd struct {
	reason protocol.Reason
	seq    uint64
}

func newLogChecker(t testingT) *logChecker {
	return &logChecker{
		t:         t,
		status:    map[string]string{},
		turns:     map[string]string{},
		parts:     map[string]bool{},
		tools:     map[string]bool{},
		resolved:  map[string]verdict{},
		rules:     map[string]bool{},
		texts:     map[string]uint64{},
		started:   map[string]uint64{},
		queued:    map[string]uint64{},
		ends:      map[string]turnEnd{},
		removedBy: map[string]string{},
	}
}

// blocked reports whether the first message of the queue is held.
func (a *logChecker) blocked() bool {
	return slices.ContainsFunc(a.holds, func(h protocol.Hold) bool {
		return h.Reason != protocol.HoldEdit || len(a.queue) > 0 && a.queue[0] == h.MessageID
	})
}

func (a *logChecker) fail(e *protocol.Event, why string) {
	a.t.Helper()
	a.t.Fatalf(
		"event %d %s %s: %s (queue %v, turn %q, pending %v)",
		e.Seq,
		e.Type,
		e.Data,
		why,
		a.queue,
		a.turn,
		a.pending,
	)
}

func (a *logChecker) apply(events []protocol.Event) {
	a.t.Helper()
	for i := range events {
		a.event(&events[i])
	}
}

func data[T any](a *logChecker, e *protocol.Event) T {
	var d T
	if err := e.Decode(&d); err != nil {
		a.fail(e, err.Error())
	}
	return d
}

func (a *logChecker) event(e *protocol.Event) {
	a.t.Helper()
	must := func(ok bool, why string) {
		a.t.Helper()
		if !ok {
			a.fail(e, why)
		}
	}
	must(e.Seq == a.seq+1 && e.FirstSeq == 0, "not the next seq")
	a.seq = e.Seq
	must(!a.closed || e.Type == protocol.StateExported, "after the session was closed")
	must(a.starting == "" || e.Type == protocol.MessageUser, "between leaving the queue and starting")
	must(a.steering == "" || e.Type == protocol.QueueRemoved, "between joining the turn and leaving the queue")
	must(a.returning == "" || e.Type == protocol.MessageResolved, "between the queue and the refusal")
	must(e.Turn == a.turn || e.Type == protocol.MessageUser, "of another turn")
	switch e.Type {
	case protocol.SessionCreated:
		must(e.Seq == 1, "not the first event")
	case protocol.SessionUpdated:
		if d := data[protocol.SessionUpdatedData](a, e); d.Revoked != "" {
			must(a.rules[d.Revoked], "revokes an unknown rule")
			delete(a.rules, d.Revoked)
		}
	case protocol.StateRestored:
		a.restored = true
	case protocol.SessionClosed:
		must(a.turn == "", "with a running turn")
		a.closed = true
	case protocol.MessageUser:
		d := data[protocol.MessageUserData](a, e)
		must(a.turn == "" && a.turns[e.Turn] == "", "within a turn")
		if a.starting != "" {
			must(a.starting == d.MessageID, "another message left the queue")
		} else {
			must(a.status[d.MessageID] == "", "was queued, started or removed before")
			must(
				!slices.ContainsFunc(a.holds, func(h protocol.Hold) bool { return h.Reason != protocol.HoldEdit }),
				"although held",
			)
			must(len(a.queue) == 0 || a.blocked(), "overtakes the queue")
			a.texts[d.Text] = e.Seq
		}
		a.starting, a.turn, a.turns[e.Turn], a.status[d.MessageID] = "", e.Turn, "begun", "started"
		a.started[d.MessageID] = e.Seq
	case protocol.TurnStarted:
		d := data[protocol.TurnStartedData](a, e)
		must(a.status[d.MessageID] == "started" && (a.turns[e.Turn] == "begun" || d.Resumed), "started twice")
		a.turns[e.Turn] = "started"
	case protocol.TurnEnded:
		must(a.turns[e.Turn] == "started" && len(a.pending)+len(a.parts)+len(a.tools) == 0, "something is open")
		for id, status := range a.status {
			must(status != "steered", "without an outcome of "+id)
		}
		a.ends[e.Turn] = turnEnd{data[protocol.TurnEndedData](a, e).Reason, e.Seq}
		a.turn, a.turns[e.Turn] = "", "ended"
	default:
		a.checkRest(e, must)
	}
}

// checkRest applies the events of the queue, of approvals and of output.
func (a *logChecker) checkRest(e *protocol.Event, must func(bool, string)) {
	a.t.Helper()
	at := func(id string) int { return slices.Index(a.queue, id) }
	switch e.Type {
	case protocol.QueueAdded:
		d := data[protocol.QueueAddedData](a, e)
		if a.status[d.MessageID] == "steered" {
			a.returning = d.MessageID
		} else {
			must(a.status[d.MessageID] == "", "known before")
			a.queued[d.MessageID], a.texts[d.Text] = e.Seq, e.Seq
		}
		i := len(a.queue)
		if d.Index != nil {
			i = *d.Index
		}
		a.queue = slices.Insert(a.queue, i, d.MessageID)
		if a.returning == "" {
			a.status[d.MessageID] = "queued"
		}
	case protocol.QueueUpdated:
		d := data[protocol.QueueUpdatedData](a, e)
		must(at(d.MessageID) >= 0, "not queued")
		a.texts[d.Text] = e.Seq
	case protocol.QueueMoved:
		d := data[protocol.QueueMovedData](a, e)
		must(at(d.MessageID) >= 0, "not queued")
		a.queue = slices.Insert(slices.Delete(a.queue, at(d.MessageID), at(d.MessageID)+1), d.Index, d.MessageID)
	case protocol.QueueRemoved:
		d := data[protocol.QueueRemovedData](a, e)
		must(at(d.MessageID) >= 0, "not queued")
		edited := func(h protocol.Hold) bool { return h.Reason != protocol.HoldEdit || h.MessageID == d.MessageID }
		switch d.Reason {
		case protocol.RemovedStarted:
			must(at(d.MessageID) == 0 && a.turn == "" && !a.blocked(), "started too early")
			a.starting = d.MessageID
		case protocol.RemovedSteered:
			must(d.MessageID == a.steering && !slices.ContainsFunc(a.holds, edited), "joined no turn, or although held")
			a.steering = ""
		default:
			must(d.Reason == protocol.RemovedUser || a.turn == "", "cleared within a turn")
			a.status[d.MessageID], a.removedBy[d.MessageID] = "removed", e.By.Name
		}
		a.queue = slices.Delete(a.queue, at(d.MessageID), at(d.MessageID)+1)
		a.holds = slices.DeleteFunc(a.holds, func(h protocol.Hold) bool { return h.MessageID == d.MessageID })
	case protocol.QueueHeld:
		d := data[protocol.Hold](a, e)
		must(d.Reason == protocol.HoldUser || len(a.queue) > 0, "holds nothing")
		must(d.Reason != protocol.HoldEdit || at(d.MessageID) >= 0, "edits a message that is not queued")
		a.holds = append(a.holds, d)
	case protocol.QueueReleased:
		for _, id := range data[protocol.QueueReleasedData](a, e).Holds {
			i := slices.IndexFunc(a.holds, func(h protocol.Hold) bool { return h.ID == id })
			must(i >= 0, "releases an unknown hold")
			a.holds = slices.Delete(a.holds, i, i+1)
		}
	case protocol.MessageSteered:
		d := data[protocol.MessageSteeredData](a, e)
		a.past = a.restored && a.status[d.MessageID] == ""
		must(a.past || a.status[d.MessageID] == "queued" && a.turn != "", "was not queued")
		must(d.Delivery == "" && e.By != nil, "has no author")
		a.status[d.MessageID] = "steered"
		if !a.past {
			a.steering = d.MessageID
		}
	case protocol.MessageResolved:
		d := data[protocol.MessageResolvedData](a, e)
		must(a.status[d.MessageID] == "steered", "was not sent")
		must(
			a.returning == d.MessageID || a.returning == "" && (a.past || d.Outcome != protocol.SteerRefused),
			"another was queued",
		)
		a.status[d.MessageID] = string(d.Outcome)
		if d.Outcome == protocol.SteerRefused && a.past {
			delete(a.status, d.MessageID) // it starts a turn, or is queued
		} else if d.Outcome == protocol.SteerRefused {
			a.returning, a.status[d.MessageID] = "", "queued"
		}
	case protocol.ApprovalRequested:
		d := data[protocol.Approval](a, e)
		_, before := a.resolved[d.Request]
		must(a.turn != "" && !before && !slices.Contains(a.pending, d.Request), "requested before, or outside a turn")
		a.pending = append(a.pending, d.Request)
	case protocol.ApprovalExplained:
		must(slices.Contains(a.pending, data[protocol.ApprovalExplainedData](a, e).Request), "not pending")
	case protocol.ApprovalResolved:
		d := data[protocol.ApprovalResolvedData](a, e)
		i := slices.Index(a.pending, d.Request)
		must(i >= 0, "not pending")
		a.pending = slices.Delete(a.pending, i, i+1)
		v := verdict{ApprovalResolvedData: d, seq: e.Seq}
		if e.By != nil {
			v.by = *e.By
		}
		if d.Rule != nil {
			a.rules[d.Rule.ID] = true
		}
		must(d.ByRule == "" || a.rules[d.ByRule] || a.restored, "by an unknown rule")
		a.resolved[d.Request] = v
	case protocol.TextStart, protocol.ReasoningStart, protocol.ToolStarted, protocol.TextDelta, protocol.ReasoningDelta,
		protocol.ToolInput, protocol.ToolOutput, protocol.TextEnd, protocol.ReasoningEnd, protocol.ToolEnded:
		a.content(e, must)
	}
}

// content checks that every delta belongs to an open part or tool.
func (a *logChecker) content(e *protocol.Event, must func(bool, string)) {
	a.t.Helper()
	d := data[struct{ Part, Tool string }](a, e)
	must(a.turn != "", "outside a turn")
	switch e.Type {
	case protocol.TextStart:
		a.parts["text "+d.Part] = true
	case protocol.ReasoningStart:
		a.parts["reasoning "+d.Part] = true
	case protocol.TextDelta:
		must(a.parts["text "+d.Part], "not started")
	case protocol.ReasoningDelta:
		must(a.parts["reasoning "+d.Part], "not started")
	case protocol.TextEnd:
		delete(a.parts, "text "+d.Part)
	case protocol.ReasoningEnd:
		delete(a.parts, "reasoning "+d.Part)
	case protocol.ToolStarted:
		a.tools[d.Tool] = true
	case protocol.ToolEnded:
		delete(a.tools, d.Tool)
	}
}

// checkState fails the test unless a state agrees with the events.
func (a *logChecker) checkState(s *protocol.State) {
	a.t.Helper()
	var queue, pending []string
	for _, m := range s.Turn.Sent() {
		if a.status[m.MessageID] != "steered" {
			a.t.Fatalf("%s waits for an outcome: %s", m.MessageID, a.status[m.MessageID])
		}
	}
	for _, m := range s.Queue {
		queue = append(queue, m.MessageID)
	}
	for _, p := range s.Approvals {
		pending = append(pending, p.Request)
	}
	sameHolds := slices.EqualFunc(s.Holds, a.holds, func(x, y protocol.Hold) bool { return x.ID == y.ID })
	turn, status := "", protocol.Idle
	if s.Turn != nil {
		turn, status = s.Turn.Turn, protocol.Running
		if len(pending) > 0 {
			status = protocol.Waiting
		}
	}
	if s.Closed {
		status = protocol.Closed
	}
	if s.Seq != a.seq || !slices.Equal(queue, a.queue) || !slices.Equal(pending, a.pending) || turn != a.turn ||
		!sameHolds || len(s.Rules) != len(a.rules) || s.Closed != a.closed || s.Status() != status {
		a.t.Fatalf("state %s differs from the events: %+v", protocol.MustEncode(s), a)
	}
}

// transcript returns the transcript of events from the first, as JSON.
func transcript(t testingT, events []protocol.Event) string {
	t.Helper()
	var tr protocol.Transcript
	for i := range events {
		if _, err := tr.Apply(&events[i]); err != nil {
			t.Fatalf("transcript: %v", err)
		}
	}
	return encodeTranscript(t, &tr)
}

func encodeTranscript(t testingT, tr *protocol.Transcript) string {
	t.Helper()
	b, err := json.Marshal(tr)
	if err != nil {
		t.Fatalf("transcript: %v", err)
	}
	return string(b)
}
