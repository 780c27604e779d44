package session

import (
	"context"
	"encoding/json"
	"time"

	"agentctl/protocol"
)

// asideLimit bounds what an agent may take for a command that is not a turn.
const asideLimit = 5 * time.Minute

// aside lets the agent work on a command off the session's goroutine; finish, back on it, makes the answer.
func (s *Session) aside(a *action, work func(context.Context) (any, error), finish func(any) (any, error)) {
	s.asides++
	s.hub.agents.Go(func() {
		ctx, cancel := context.WithTimeout(s.background, asideLimit)
		defer cancel()
		result, err := work(ctx)
		posted := s.post(func() {
			s.asides--
			s.touched = time.Now()
			if err == nil {
				result, err = finish(result)
			}
			s.answer(a, result, agentError(err))
			s.arm()
		})
		if !posted {
			a.reply(nil, protocol.Errorf(protocol.CodeShuttingDown, "the session was stopped meanwhile: try again"))
		}
	})
}

// agentError gives an agent's error a code of its own, so that it is told as what it is.
func agentError(err error) error {
	if err == nil || protocol.CodeOf(err) != protocol.CodeInternal {
		return err
	}
	return protocol.Errorf(protocol.CodeAgentFailed, "%s", protocol.SplitText(protocol.ValidText(err.Error()), longText)[0])
}

func (s *Session) unsupported(what string) error {
	return protocol.Errorf(protocol.CodeUnsupported, "the agent %s cannot %s", s.state.Agent, what)
}

// able opens the agent and returns it as what a command needs.
func able[T any](s *Session, what string) (T, error) {
	var zero T
	agent, err := s.open()
	if err != nil {
		return zero, err
	}
	t, ok := agent.(T)
	if !ok {
		return zero, s.unsupported(what)
	}
	return t, nil
}

func done(any) (any, error) { return protocol.Empty{}, nil }

func (s *Session) taskCancel(a *action, d *protocol.TaskIDData) (any, error) {
	k, err := able[TaskController](s, "cancel tasks")
	if err != nil {
		return nil, err
	}
	s.aside(a, func(ctx context.Context) (any, error) { return nil, k.CancelTask(ctx, d.Task) }, done)
	return nil, errLater
}

func (s *Session) taskRestart(a *action, d *protocol.TaskIDData) (any, error) {
	k, err := able[TaskController](s, "restart tasks")
	if err != nil {
		return nil, err
	}
	s.aside(a, func(ctx context.Context) (any, error) { return nil, k.RestartTask(ctx, d.Task) }, done)
	return nil, errLater
}

// context asks the agent how full its context is; an agent that cannot tell is quoted with what it told last.
func (s *Session) context(a *action, _ *protocol.Empty) (any, error) {
	m, err := able[Measurer](s, "tell its context")
	if err != nil {
		if s.state.Context != nil {
			return protocol.ContextResult{Context: *s.state.Context, Usage: s.state.Usage}, nil
		}
		return nil, err
	}
	s.aside(a, func(ctx context.Context) (any, error) { return m.Context(ctx) }, func(v any) (any, error) {
		return protocol.ContextResult{Context: v.(protocol.ContextInfo), Usage: s.state.Usage}, nil
	})
	return nil, errLater
}

func (s *Session) compact(a *action, _ *protocol.Empty) (any, error) {
	c, err := able[Compactor](s, "compact its context")
	if err != nil {
		return nil, err
	}
	s.aside(a, func(ctx context.Context) (any, error) { return c.Compact(ctx) }, func(v any) (any, error) {
		d := v.(protocol.ContextCompactedData)
		s.record(protocol.ContextCompacted, &a.by, d)
		return protocol.CompactResult{Compacted: d}, nil
	})
	return nil, errLater
}

func (s *Session) configure(a *action, d *protocol.ConfigureData) (any, error) {
	c, err := able[Configurer](s, "be configured")
	if err != nil {
		return nil, err
	}
	s.aside(a, func(ctx context.Context) (any, error) { return nil, c.Configure(ctx, d.Setting, d.Value) }, done)
	return nil, errLater
}

func (s *Session) snapshot(*action, *protocol.Empty) (any, error) {
	return protocol.SnapshotResult{
		Snapshot: protocol.Snapshot{Epoch: s.log.Position().Epoch, State: s.state.Clone()},
		Status:   s.state.Status(),
		Clients:  s.audience.clients(s),
	}, nil
}

// close ends the session: a turn under way is interrupted first, the agent is stopped, and with Delete everything is removed.
func (s *Session) close(a *action, d *protocol.CloseData) (any, error) {
	if s.turn != nil {
		s.closing = append(s.closing, closing{a, d})
		s.stopTurn(protocol.ReasonInterrupted, &a.by, protocol.QueueKeep)
		return nil, errLater
	}
	return s.closeNow(a, d)
}

// A closing is a close that waits for the end of the turn.
type closing struct {
	a *action
	d *protocol.CloseData
}

func (s *Session) closeNow(a *action, d *protocol.CloseData) (any, error) {
	if !s.state.Closed {
		s.record(protocol.SessionClosed, &a.by, protocol.SessionClosedData{Reason: protocol.SplitText(protocol.ValidText(d.Reason), shortText)[0]})
		clear(s.editors)
	}
	s.closeAgent()
	if d.Delete {
		s.then(func(failed error) {
			if failed == nil {
				s.deleteAll(a)
			} else {
				s.answer(a, nil, failed)
			}
		})
		return nil, errLater
	}
	return protocol.Empty{}, nil
}

// deleteAll removes the session from the store and ends it. All that is kept of it is the answer to this command.
func (s *Session) deleteAll(a *action) {
	b := &Batch{Session: s.id, Delete: true}
	body := json.RawMessage("{}")
	if a.key != "" {
		b.Answers = []Answer{{Key: a.key, Session: s.id, Hash: a.hash, Body: body, At: time.Now()}}
	}
	result := make(chan error, 1)
	if !s.hub.commit(b, func(err error) { result <- err }) {
		result <- ErrStoreFailed
	}
	if err := <-result; err != nil {
		s.hub.log.Error("delete session", "session", s.id, "err", err)
		s.answer(a, nil, protocol.Errorf(protocol.CodeStorage, "the store did not take it; the session is closed and still there, try again"))
		return
	}
	s.ending = true
	s.summary.Deleted, s.summary.Status = true, protocol.Closed
	s.audience.tell(protocol.SummaryChanged, s.id, s.summary)
	s.hub.removed(s.summary)
	for _, w := range s.answers.take(a.key) {
		w.reply(body, nil)
	}
	a.reply(body, nil)
	for _, f := range s.drop() {
		f(noSession(s.id))
	}
}
