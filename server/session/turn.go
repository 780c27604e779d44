package session

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/archive"
	"agentctl/server/eventlog"
	"agentctl/server/policy"
	"agentctl/server/session/approval"
	"agentctl/server/session/confinement"
	"agentctl/server/session/item"
	"agentctl/server/session/limit"
	"agentctl/server/session/output"
	"agentctl/server/session/queue"
	"agentctl/server/session/record"
	"agentctl/server/session/recorder"
)

func init() {
	handlers[protocol.DoInterrupt] = handler((*Session).interrupt)
}

// A turn is the current turn and the agent's run of it.
type turn struct {
	id     string
	ctx    context.Context
	cancel context.CancelCauseFunc
	done   chan struct{} // closed when the session is finished with it: further output is refused
	items  item.Items
	denial item.Denial
	past   atomic.Bool // the agent got the imported past
	work   *agent.Work // that the agent began itself; nil: a message began the turn
	asks   *host       // of the root that decides the requests of a sub-agent; nil: the session does
	next   []func()    // called after the turn: work that waits for its end

	steering *steering // nil: no agent runs

	// Set by stopTurn.
	reason     protocol.Reason
	by         *protocol.Actor
	queue      string     // keep, clear, or the reason of a hold
	interrupts []*command // answered when the turn ends
	deadline   time.Time  // when the agent is closed
}

// Causes of a turn's canceled context.
var (
	errInterrupted = errors.New("interrupted")
	errStorage     = errors.New("the store failed")
	errShutdown    = errors.New("the server shuts down")
	errTurnOver    = errors.New("the turn is over")
)

// start records the start of a message's turn and runs the agent.
func (s *Session) start(m protocol.Message) *protocol.Event {
	id := NewID(idTurn)
	e := s.recorder.RecordIn(id, protocol.MessageUser, m.By, protocol.MessageUserData{Message: m})
	s.recorder.RecordIn(id, protocol.TurnStarted, m.By, protocol.TurnStartedData{MessageID: m.MessageID, Agent: s.state.Agent})
	s.runAgent(agent.Turn{ID: id, Message: m, Plan: planOf(m)}, eventlog.TurnRow{})
	return e
}

// recordConversation records a finished turn of an earlier conversation, unless a turn is open.
func (s *Session) recordConversation(message, text string) {
	if s.turn != nil || s.state.Turn != nil {
		s.recorder.Record(protocol.Notice, nil, protocol.NoticeData{
			Level: protocol.LevelInfo, Message: message + "\n\n" + text,
		})
		return
	}
	id, m := NewID(idTurn), protocol.Message{MessageID: NewID(idMessage), Text: message}
	s.recorder.RecordIn(id, protocol.MessageUser, nil, protocol.MessageUserData{Message: m})
	s.recorder.Record(protocol.TurnStarted, nil, protocol.TurnStartedData{MessageID: m.MessageID, Agent: s.state.Agent})
	const part = "conversation"
	s.recorder.Record(protocol.TextStart, nil, protocol.PartStartData{Part: part})
	entries := output.Split(
		eventlog.Entry{Type: protocol.TextDelta, Turn: id},
		protocol.Delta{Part: part, Kind: protocol.KindText, Text: text},
	)
	for i := range entries {
		if _, err := s.recorder.Append(&entries[i]); err != nil {
			s.logger().Error("record conversation", "err", err)
		}
	}
	s.recordEnd(agent.End{Reason: protocol.ReasonCompleted}, nil)
}

// runAgent runs the agent once the start of the turn is visible. shown is the content of a resumed
// turn in the log.
func (s *Session) runAgent(in agent.Turn, shown eventlog.TurnRow) {
	t := newTurn(s.background, in.ID)
	t.steering = newSteering(s.mail, t)
	if in.Resumed {
		t.steering.again = s.state.Turn.Sent()
	}
	in.Steering = t.steering
	t.steering.offer(s.state)
	s.turn = t
	s.forgetIdleEnd()
	opened, err := s.openAgent()
	if err != nil {
		s.journal.AfterCommit(func(failed error) {
			if failed == nil && s.turn == t {
				s.endTurn(normalizeEnd(agent.End{}, err))
			}
		})
		return
	}
	t.runIn(s, func() func(agent.Output) (agent.End, error) {
		preparation, imported := s.slot.Preparation(), s.spec.Imported
		return func(out agent.Output) (end agent.End, err error) {
			err = preparation.Prepare(t.ctx, opened, false, s.settingsApplied)
			if err == nil && imported {
				var added bool
				added, err = archive.AddImported(t.ctx, s.hub.cfg.Store, s.id, &in.Message)
				t.past.Store(added)
			}
			if err == nil && in.Resumed {
				in.Shown, err = archive.ReadShown(t.ctx, s.hub.cfg.Store, s.id, shown)
			}
			if err == nil {
				end, err = opened.Run(t.ctx, in, out)
			}
			return end, err
		}
	})
}

func newTurn(background context.Context, id string) *turn {
	t := &turn{id: id, done: make(chan struct{})}
	t.ctx, t.cancel = context.WithCancelCause(background)
	return t
}

// runIn runs the turn, the current one of a session, once everything recorded so far is visible, on
// another goroutine. begin is called before, on the session's goroutine, and returns what to run;
// it is not called if the turn ends earlier.
func (t *turn) runIn(s *Session, begin func() func(agent.Output) (agent.End, error)) {
	s.journal.AfterCommit(func(failed error) {
		if failed != nil || s.turn != t {
			return
		}
		if t.reason != "" { // stopped before it began
			s.endTurn(agent.End{})
			return
		}
		run := begin()
		out := &turnOutput{mail: s.mail, t: t, session: s.id, title: s.state.Title, c: policy.Classifier{
			Dir: confinement.LocalDir(&s.spec), Own: s.hub.cfg.OwnDirectories, ReadTools: s.slot.Capabilities().ReadTools,
		}}
		s.hub.agents.Go(func() {
			end, err := run(out)
			finish := func(s *Session) { s.endTurn(normalizeEnd(end, err)) }
			_ = s.mail.emit(&agentMessage{turn: t, do: finish}) // fails when the turn is over
		})
	})
}

// normalizeEnd returns the end of a turn for the results of Agent.Run.
func normalizeEnd(end agent.End, err error) agent.End {
	if err != nil {
		var coded *protocol.Error
		var limited *agent.LimitError
		end.Reason, end.Code, end.Message = protocol.ReasonError, protocol.CodeAgentFailed, err.Error()
		switch {
		case errors.As(err, &limited):
			end = limited.End()
		case errors.As(err, &coded):
			end.Code, end.Message = coded.Code, coded.Message
		}
	}
	if end.Reason == "" {
		end.Reason = protocol.ReasonCompleted
	}
	end.Message = protocol.SplitText(protocol.ValidText(end.Message), record.LongText)[0]
	return end
}

// endTurn ends the current turn. It records the end, then keeps, holds or clears the queue, answers
// waiting commands and starts the next message.
func (s *Session) endTurn(end agent.End) {
	t := s.turn
	if t.reason != "" {
		end.Reason, end.Code, end.Message, end.Limit = t.reason, "", "", nil
	}
	end.Reason = t.denial.End(end.Reason)
	message := s.state.Turn.Message
	if end.Code == protocol.CodeServerRestart && t.queue == "" {
		t.queue = protocol.HoldRestart // of an agent that resumes turns, but not this one
	}
	s.recordEnd(end, t.by)
	if t.past.Load() && end.Reason != protocol.ReasonError {
		s.spec.Imported = false
		s.storeSpec()
	}
	s.recorder.RecordAll(queueAfter(s, t, message, end)...)
	close(t.done)
	t.cancel(errTurnOver)
	s.turn = nil
	for _, cmd := range t.interrupts {
		s.answer(cmd, protocol.InterruptResult{Interrupted: true, Turn: t.id}, nil)
	}
	s.startNext()
	for _, begin := range t.next {
		begin()
	}
	closes := s.exit.closes
	s.exit.closes = nil
	for _, cmd := range closes {
		if result, err := s.closeNow(cmd, cmd.data.(*protocol.CloseData)); err != errAnswerLater {
			s.answer(cmd, result, err)
		}
	}
}

// queueAfter returns the events of the queue after a turn with a message.
func queueAfter(s *Session, t *turn, m protocol.Message, end agent.End) []record.Event {
	if end.Reason != protocol.ReasonLimited {
		if end.Reason == protocol.ReasonCompleted || end.Reason == protocol.ReasonDenied {
			s.limits.Passed()
		}
		return queue.EndTurn(s.state, t.queue, NewID(idHold), t.by)
	}
	ended := limit.Ended{Message: m, Now: time.Now(), HoldID: NewID(idHold), NextID: NewID(idMessage)}
	if end.Limit != nil {
		ended.Limit = *end.Limit
	}
	ended.TookIn = ended.TookIn || m.Work // no message is to be sent again
	return s.limits.End(s.state, &ended)
}

// recordEnd records the end of the state's turn, of its open parts, tools and tasks first, and its
// snapshot and index entry.
func (s *Session) recordEnd(end agent.End, by *protocol.Actor) {
	st := s.state.Turn
	ended := protocol.TurnEndedData{
		Reason: end.Reason, Code: end.Code, Message: end.Message, Usage: end.Usage,
		DurationMS: time.Since(st.Started).Milliseconds(),
	}
	if s.turn != nil {
		s.recorder.RecordAll(s.queue.EndSteered(s.state, s.turn.steering.left())...)
	}
	if end.Limit != nil && !end.Limit.ResetsAt.IsZero() {
		at := record.Time(end.Limit.ResetsAt)
		ended.ResetsAt = &at
	}
	s.recorder.RecordAll(item.EndAll(s.state, &ended)...)
	s.resolve(approval.CancelTurn(s.state)...)
	e := s.recorder.Record(protocol.TurnEnded, by, ended)
	if s.state.Turn != nil {
		return // not recorded; logged
	}
	s.hub.Metrics().turnEnded(end)
	if end.Code != "" {
		s.logger().Warn("turn failed", "turn", st.Turn, "actor", recorder.ActorName(st.Message.By), "reason", end.Reason,
			"code", end.Code, "err", s.secrets.Hide(end.Message))
	}
	s.recorder.EndTurn(st, e)
}

// interrupt stops the current turn and keeps its output. The answer comes when turn.ended is
// visible.
func (s *Session) interrupt(cmd *command, d *protocol.InterruptData) (any, error) {
	switch d.Queue {
	case "":
		d.Queue = protocol.QueueKeep
	case protocol.QueueHold:
		d.Queue = protocol.HoldInterrupt
	case protocol.QueueKeep, protocol.QueueClear:
	default:
		return nil, protocol.Errorf(protocol.CodeInvalidMessage, "queue: invalid value %.20q: want keep, hold or clear", d.Queue)
	}
	if s.turn == nil || d.Turn != "" && d.Turn != s.turn.id {
		return protocol.InterruptResult{Turn: d.Turn}, nil
	}
	if w := s.turn.work; w != nil && w.Interruptible != nil && !w.Interruptible() {
		return nil, unsupported(s.state.Agent, "stop this work")
	}
	s.turn.interrupts = append(s.turn.interrupts, cmd)
	s.stopTurn(protocol.ReasonInterrupted, &cmd.By, d.Queue)
	return nil, errAnswerLater
}

// stopTurn cancels the agent's run. The first reason stays; a later choice for the queue replaces
// keep.
func (s *Session) stopTurn(reason protocol.Reason, by *protocol.Actor, queue string) {
	t := s.turn
	if t.reason == "" {
		t.reason, t.by, t.queue = reason, by, queue
		t.deadline = time.Now().Add(s.hub.cfg.InterruptGrace)
		t.cancel(errInterrupted)
		s.resolve(approval.CancelTurn(s.state)...)
		s.scheduleTimer()
		return
	}
	if t.queue == protocol.QueueKeep {
		t.queue = queue
	}
}

// abortTurn ends the state's turn when no agent runs it.
func (s *Session) abortTurn(code protocol.Code, message, queue string) {
	if s.state.Turn == nil || s.turn != nil {
		return
	}
	s.turn = &turn{id: s.recorder.Turn(), done: make(chan struct{}), cancel: func(error) {}, queue: queue}
	s.endTurn(agent.End{Reason: protocol.ReasonError, Code: code, Message: message})
}
