package session

import (
	"context"
	"fmt"
	"slices"

	"agentctl/protocol"
)

// An emission is what an agent says, on its way to the session's goroutine. turn is nil for what is said outside of one.
type emission struct {
	turn    *turn
	entries []entry
	ask     *ask
	unask   *ask // gave up waiting
	save    []byte
	end     *ended
}

// ended is how Run returned.
type ended struct {
	End
	err error
}

// emit hands an emission to the session; it blocks while the log is behind.
func (s *Session) emit(em emission) error {
	over := s.done
	if em.turn != nil {
		over = em.turn.over
	}
	select {
	case <-over:
		return errTurnOver
	default:
	}
	select {
	case s.output <- &em:
		return nil
	case <-over:
		return errTurnOver
	case <-s.done:
		return errTurnOver
	}
}

// take records what an agent said, unless its turn is over.
func (s *Session) take(em *emission) {
	if em.turn != nil && em.turn != s.turn {
		return
	}
	id := ""
	if em.turn != nil {
		id = em.turn.id
	}
	for _, en := range em.entries {
		if em.turn != nil {
			s.begin(en)
		}
		if _, err := s.append(id, en); err != nil {
			s.hub.log.Error("record what the agent said", "session", s.id, "type", en.typ, "err", err)
		}
		if !en.fold {
			s.changed = true
		}
	}
	if em.save != nil {
		s.spec.State = em.save
		s.keepSpec()
	}
	switch {
	case em.ask != nil:
		s.ask(em.ask)
	case em.unask != nil:
		s.unask(em.unask)
	case em.end != nil:
		s.endTurn(endOf(em.end.End, em.end.err))
	}
}

// begin starts the part or tool that an entry belongs to when nobody has: every delta has a start before it.
func (s *Session) begin(en entry) {
	var typ protocol.Type
	var data any
	switch {
	case en.part != "":
		typ = protocol.TextStart
		if en.delta.Kind == protocol.KindReasoning {
			typ = protocol.ReasoningStart
		}
		if slices.ContainsFunc(s.state.Turn.Parts, func(p protocol.OpenPart) bool { return p.Part == en.part && p.Kind == en.delta.Kind }) {
			return
		}
		data = protocol.PartStartData{Part: en.part}
	case en.tool != "":
		known := s.turn.started[en.tool] || en.typ == protocol.ToolStarted ||
			slices.ContainsFunc(s.state.Turn.Tools, func(t protocol.OpenTool) bool { return t.Tool == en.tool }) // of before a restart
		s.turn.started[en.tool] = true
		if known {
			return
		}
		typ, data = protocol.ToolStarted, protocol.ToolStartedData{Tool: en.tool}
	default:
		return
	}
	s.recordTask(typ, en.task, en.parent, data)
}

// keepSpec stores the spec with the next commit.
func (s *Session) keepSpec() {
	raw, err := encode(s.spec)
	if err != nil {
		s.hub.log.Error("keep spec", "session", s.id, "err", err)
		return
	}
	s.pending().Spec = raw
}

// maxState bounds what an agent may save.
const maxState = 1 << 20

// output is the Output of one turn.
type output struct {
	s *Session
	t *turn
}

var _ Output = (*output)(nil)

func (o *output) Emit(e Event) error {
	return o.s.say(o.t, e)
}

func (o *output) Save(state []byte) error { return o.s.keep(o.t, nil, state) }

func (o *output) Ask(ctx context.Context, a protocol.Approval) (Verdict, error) {
	q := &ask{approval: a, verdict: make(chan Verdict, 1)}
	if err := o.s.emit(emission{turn: o.t, ask: q}); err != nil {
		return Verdict{}, err
	}
	gone := ctx.Done()
	for {
		select {
		case v := <-q.verdict:
			return v, nil
		case <-o.t.over:
			return Verdict{}, errTurnOver
		case <-o.s.done:
			return Verdict{}, errTurnOver
		case <-gone:
			if o.t.ctx.Err() == nil {
				_ = o.s.emit(emission{turn: o.t, unask: q}) // or the turn is over
				return Verdict{}, ctx.Err()
			}
			gone = nil // interrupted: the session resolves what is pending
		}
	}
}

// say hands an event to the session, and the state that is kept with it.
func (s *Session) say(t *turn, e Event) error {
	entries, err := fit(e)
	if err != nil {
		return err
	}
	if e.Save == nil {
		return s.emit(emission{turn: t, entries: entries})
	}
	return s.keep(t, entries, e.Save)
}

// keep hands over a state, with the entries that it belongs to.
func (s *Session) keep(t *turn, entries []entry, state []byte) error {
	if len(state) > maxState {
		return protocol.Errorf(protocol.CodeTooLarge, "an agent's state holds at most %d bytes", maxState)
	}
	return s.emit(emission{turn: t, entries: entries, save: append([]byte{}, state...)})
}

// host is the Host of a session.
type host struct{ s *Session }

var _ Host = (*host)(nil)

func (h *host) Emit(e Event) error {
	switch e.Type {
	case protocol.AgentOptions, protocol.ContextUpdated, protocol.UsageUpdated, protocol.Notice, protocol.Raw:
	default:
		return protocol.Errorf(protocol.CodeUnsupported, "an agent cannot emit %s outside of a turn", e.Type)
	}
	return h.s.say(nil, e)
}

func (h *host) Save(state []byte) error { return h.s.keep(nil, nil, state) }

// RecordProcessGroup goes around the session: a process may end when its session has.
func (h *host) RecordProcessGroup(g ProcessGroup) error {
	g.Session = h.s.id
	result := make(chan error, 1)
	if !h.s.hub.commit(&Batch{Session: h.s.id, ProcessGroups: []ProcessGroup{g}}, func(err error) { result <- err }) {
		return fmt.Errorf("record process group: %w", ErrStoreFailed)
	}
	return <-result
}

func (h *host) Logf(format string, args ...any) {
	h.s.hub.log.Info(fmt.Sprintf(format, args...), "session", h.s.id)
}
