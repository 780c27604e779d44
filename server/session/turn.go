package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"agentctl/protocol"
)

// A turn is the run of an agent for the turn under way.
type turn struct {
	id      string
	ctx     context.Context
	cancel  context.CancelCauseFunc
	over    chan struct{}   // closed when the session is through with it: its output is refused
	started map[string]bool // parts and tools that were started

	// Set when somebody ended it.
	reason  protocol.Reason
	by      *protocol.Actor
	queue   string    // what becomes of the queue: keep, clear, or the reason that holds it
	waiting []*action // interrupts to be answered
	giveUp  time.Time // when the agent is closed
}

// Causes of a turn's cancelled context.
var (
	errInterrupted = errors.New("interrupted")
	errStorage     = errors.New("the store failed")
	errShutdown    = errors.New("the server shuts down")
	errTurnOver    = errors.New("the turn is over")
)

// start begins the turn of a message: it was queued, or comes just now.
func (s *Session) start(m protocol.Message) *protocol.Event {
	id := NewID(idTurn)
	e := s.recordIn(id, protocol.MessageUser, m.By, protocol.MessageUserData{Message: m})
	s.recordIn(id, protocol.TurnStarted, m.By, protocol.TurnStartedData{MessageID: m.MessageID, Agent: s.state.Agent})
	s.launch(Turn{ID: id, Message: m, Plan: planOf(m)})
	return e
}

// launch runs the agent once the turn's start is visible.
func (s *Session) launch(in Turn) {
	t := &turn{id: in.ID, over: make(chan struct{}), started: map[string]bool{}}
	t.ctx, t.cancel = context.WithCancelCause(s.background)
	s.turn = t
	agent, err := s.open()
	if err != nil {
		s.then(func(failed error) {
			if failed == nil && s.turn == t {
				s.endTurn(endOf(End{}, err))
			}
		})
		return
	}
	s.then(func(failed error) {
		if failed != nil || s.turn != t {
			return
		}
		if t.reason != "" { // ended before it began
			s.endTurn(End{})
			return
		}
		s.hub.agents.Go(func() {
			end, err := agent.Run(t.ctx, in, &output{s, t})
			_ = s.emit(emission{turn: t, end: &ended{end, err}}) // fails when the turn is over already
		})
	})
}

// open returns the session's agent, opened on first use.
func (s *Session) open() (Agent, error) {
	if s.agent == nil {
		agent, err := s.hub.cfg.Agents.Open(s.spec, s.host)
		if err != nil {
			return nil, fmt.Errorf("open agent: %w", err)
		}
		s.agent, s.traits = agent, agent.Capabilities()
	}
	return s.agent, nil
}

// closeAgent ends the agent's processes, off the session's goroutine.
func (s *Session) closeAgent() {
	agent := s.agent
	if agent == nil {
		return
	}
	s.agent = nil
	s.hub.agents.Go(func() {
		if err := agent.Close(); err != nil {
			s.hub.log.Warn("close agent", "session", s.id, "err", err)
		}
	})
}

// endOf makes the end of a turn of what Run returned.
func endOf(end End, err error) End {
	if err != nil {
		var coded *protocol.Error
		end.Reason, end.Code, end.Message = protocol.ReasonError, protocol.CodeAgentFailed, err.Error()
		if errors.As(err, &coded) {
			end.Code, end.Message = coded.Code, coded.Message
		}
	}
	if end.Reason == "" {
		end.Reason = protocol.ReasonCompleted
	}
	end.Message = protocol.SplitText(protocol.ValidText(end.Message), longText)[0]
	return end
}

// endTurn ends the turn under way: what is open in it is closed, the snapshot of the boundary is taken, and the queue runs on
// unless whoever ended the turn wanted otherwise.
func (s *Session) endTurn(end End) {
	t := s.turn
	if t.reason != "" {
		end.Reason, end.Code, end.Message = t.reason, "", ""
	}
	s.closeTurn(end, t.by)
	switch t.queue {
	case "", protocol.QueueKeep:
	case protocol.QueueClear:
		for _, m := range slices.Clone(s.state.Queue) {
			s.record(protocol.QueueRemoved, t.by, protocol.QueueRemovedData{MessageID: m.MessageID, Reason: protocol.RemovedCleared})
		}
	default:
		if len(s.state.Queue) > 0 {
			s.hold(t.queue, "", t.by)
		}
	}
	close(t.over)
	t.cancel(errTurnOver)
	s.turn = nil
	for _, a := range t.waiting {
		s.answer(a, protocol.InterruptResult{Interrupted: true, Turn: t.id}, nil)
	}
	s.next()
	waiting := s.closing
	s.closing = nil
	for _, c := range waiting {
		if result, err := s.closeNow(c.a, c.d); err != errLater {
			s.answer(c.a, result, err)
		}
	}
}

// closeTurn records the end of the state's turn.
func (s *Session) closeTurn(end End, by *protocol.Actor) {
	st := s.state.Turn
	for _, p := range slices.Clone(st.Parts) {
		typ := protocol.TextEnd
		if p.Kind == protocol.KindReasoning {
			typ = protocol.ReasoningEnd
		}
		s.recordTask(typ, p.Task, "", protocol.PartEndData{Part: p.Part})
	}
	status := protocol.ToolUnknown
	if end.Reason == protocol.ReasonInterrupted || end.Reason == protocol.ReasonDenied {
		status = protocol.ToolCancelled
	}
	for _, tool := range slices.Clone(st.Tools) {
		s.recordTask(protocol.ToolEnded, tool.Task, tool.Parent, protocol.ToolEndedData{Tool: tool.Tool, Status: status})
	}
	s.endTasks(end)
	s.cancelApprovals()
	e := s.record(protocol.TurnEnded, by, protocol.TurnEndedData{
		Reason: end.Reason, Code: end.Code, Message: end.Message, Usage: end.Usage,
		DurationMS: time.Since(st.Started).Milliseconds(),
	})
	if s.state.Turn != nil {
		return // not recorded; logged
	}
	b := s.pending()
	b.Snapshot, b.SnapSeq = encodeState(s.state), s.state.Seq
	s.then(func(failed error) {
		if failed == nil {
			s.boundary, s.boundSeq = b.Snapshot, b.SnapSeq
		}
	})
	b.Turns = append(b.Turns, TurnRow{
		Turn: st.Turn, MessageID: st.Message.MessageID, First: st.First, Last: e.Seq, Reason: string(end.Reason), Ended: e.Time,
	})
}

// endTasks ends the tasks that run when their turn is cut off. One that completes has said what became of its own.
func (s *Session) endTasks(end End) {
	if s.state.Plan == nil || end.Reason == protocol.ReasonCompleted {
		return
	}
	typ, d := protocol.TaskFailed, protocol.TaskData{Code: end.Code, Message: end.Message}
	if end.Reason == protocol.ReasonInterrupted || end.Reason == protocol.ReasonDenied {
		typ, d = protocol.TaskCancelled, protocol.TaskData{}
	}
	for _, t := range slices.Clone(s.state.Plan.Tasks) {
		if t.Status == protocol.StatusRunning {
			d.Task, d.Title = t.ID, t.Title
			s.recordTask(typ, t.ID, "", d)
		}
	}
}

// next starts the first queued message's turn if nothing keeps it.
func (s *Session) next() {
	if s.turn != nil || s.leaving() {
		return
	}
	m := s.state.NextQueued()
	if m == nil {
		return
	}
	msg := *m
	s.record(protocol.QueueRemoved, nil, protocol.QueueRemovedData{MessageID: msg.MessageID, Reason: protocol.RemovedStarted})
	s.start(msg)
}

// interrupt ends the turn under way and keeps what it did. It is answered when turn.ended is visible.
func (s *Session) interrupt(a *action, d *protocol.InterruptData) (any, error) {
	switch d.Queue {
	case "":
		d.Queue = protocol.QueueKeep
	case protocol.QueueHold:
		d.Queue = protocol.HoldInterrupt
	case protocol.QueueKeep, protocol.QueueClear:
	default:
		return nil, protocol.Errorf(protocol.CodeInvalidMessage, "queue: %.20q is none of keep, hold, clear", d.Queue)
	}
	if s.turn == nil || d.Turn != "" && d.Turn != s.turn.id {
		return protocol.InterruptResult{Turn: d.Turn}, nil
	}
	s.turn.waiting = append(s.turn.waiting, a)
	s.stopTurn(protocol.ReasonInterrupted, &a.by, d.Queue)
	return nil, errLater
}

// stopTurn tells the agent to end the turn. The first reason stays; a later choice for the queue replaces keep.
func (s *Session) stopTurn(reason protocol.Reason, by *protocol.Actor, queue string) {
	t := s.turn
	if t.reason == "" {
		t.reason, t.by, t.queue = reason, by, queue
		t.giveUp = time.Now().Add(s.hub.cfg.InterruptGrace)
		t.cancel(errInterrupted)
		s.cancelApprovals()
		s.arm()
		return
	}
	if t.queue == protocol.QueueKeep {
		t.queue = queue
	}
}

// forceEnd ends a turn whose agent did not return in time: the agent is closed.
func (s *Session) forceEnd() {
	s.hub.log.Warn("agent did not stop in time: closing it", "session", s.id, "turn", s.turn.id)
	s.closeAgent()
	s.endTurn(End{})
}

// cutTurn ends a turn whose agent is gone.
func (s *Session) cutTurn(code protocol.Code, message, queue string) {
	if s.state.Turn == nil || s.turn != nil {
		return
	}
	s.turn = &turn{id: s.turnID(), over: make(chan struct{}), cancel: func(error) {}, queue: queue}
	s.endTurn(End{Reason: protocol.ReasonError, Code: code, Message: message})
}
