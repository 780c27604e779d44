package session

import (
	"context"
	"log/slog"
	"time"

	"agentctl/internal/redact"
	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/eventlog"
	"agentctl/server/session/approval"
	"agentctl/server/session/confinement"
	"agentctl/server/session/idempotency"
	"agentctl/server/session/limit"
	"agentctl/server/session/presence"
	"agentctl/server/session/queue"
	"agentctl/server/session/recorder"
	"agentctl/server/session/slot"
)

// A Session is one session in memory. The goroutine run owns it: other goroutines post functions to
// it, its agent sends it messages, and the committer reports to it. It ends when the hub stops it,
// when it was deleted, or when it was idle, without subscribers and without a process of its agent
// for Config.UnloadAfter.
type Session struct {
	// Static after construction.

	id               string
	hub              *Hub
	mail             *mailbox
	background       context.Context // of work for the session; canceled when run ends
	cancelBackground context.CancelFunc

	// Owned by run.

	state         *protocol.State // at the journal's head; the recorder changes it
	journal       *eventlog.Journal
	recorder      *recorder.Recorder
	spec          agent.Spec
	slot          slot.Slot
	host          *host                   // of the agent in the slot; nil: it is empty
	confinement   confinement.Confinement // of that agent
	secrets       *redact.Values          // of the agent that was opened last
	startFailure  string                  // of the agent, the last one that was recorded
	turn          *turn                   // nil: no current turn
	approvals     *approval.Approvals
	idempotency   *idempotency.Cache
	subscribers   *presence.List[Subscriber]
	queue         queue.Queue
	limits        limit.Limits
	deadlines     deadlines
	asyncCommands int  // commands that the agent works on
	undoing       bool // one of them is undo or retry: no turn starts
	exit          exit
}

// An exit is the progress of closing a session or stopping its goroutine.
type exit struct {
	closes       []*command // of close, which wait for the end of the turn
	shuttingDown bool       // no turn may start
	ending       bool       // run returns
}

// closing reports whether no further turn of a session may start.
func (e *exit) closing(st *protocol.State) bool {
	return e.shuttingDown || len(e.closes) > 0 || st.Closed
}

// maxUncommitted bounds the bytes appended and not visible. Beyond it the agent blocks.
const maxUncommitted = 1 << 20

// run is the session's goroutine.
func (s *Session) run() {
	defer s.hub.sessions.running.Done()
	defer s.hub.list.Unload(s.id, s)
	defer s.journal.Log().End()
	defer close(s.mail.done)
	defer s.deadlines.timer.Stop()
	defer s.cancelBackground()
	stop := s.hub.sessions.ctx.Done()
	for {
		if !s.exit.ending {
			s.recorder.Publish(s.subscribers.Len())
		}
		s.journal.Flush()
		if s.exit.ending {
			break
		}
		var output <-chan struct{}
		if s.journal.Uncommitted() < maxUncommitted {
			output = s.mail.output.Ready()
		}
		select {
		case r := <-s.mail.requests:
			r.run()
		case f := <-s.mail.inbox:
			f()
		case <-output:
		case err := <-s.journal.Committed():
			s.handleCommit(err)
		case <-s.deadlines.timer.C:
			s.handleTimer()
		case <-stop:
			stop = nil
			s.shutdown()
		}
		s.drain()
	}
	for !s.journal.Idle() { // commit the last events and answer all waiting commands
		s.journal.Flush()
		s.handleCommit(<-s.journal.Committed())
	}
	s.idempotency.FailAll(errShuttingDown())
}

// drain handles queued input without blocking, commands before agent messages, so that one commit
// holds many events under load.
func (s *Session) drain() {
	defer s.mail.output.Rest()
	for handled := 0; handled < 512; {
		for handled < 512 && !s.exit.ending && s.mail.runNext() {
			handled++
		}
		for range 8 {
			if s.exit.ending || s.journal.Uncommitted() >= maxUncommitted {
				return
			}
			m, ok := s.mail.output.Take()
			if !ok {
				return
			}
			s.handleAgentMessage(m)
			m.release()
			handled++
		}
	}
}

// handleEmitted handles all events that agents have emitted until now, even if much is not
// committed.
func (s *Session) handleEmitted() {
	for n := s.mail.output.Len(); n > 0 && !s.exit.ending; n-- {
		m, _ := s.mail.output.Take()
		s.handleAgentMessage(m)
		m.release()
	}
}

// handleCommit continues after a commit: it calls the waiters; after a failure it first reloads the
// session from the store.
func (s *Session) handleCommit(err error) {
	waiters := s.journal.FinishCommit(err)
	s.deadlines.lastCommit = time.Now()
	if err != nil {
		s.logger().Error("commit", "err", err)
		waiters = s.reload(waiters, err)
		err = errNotStored(err)
	}
	for _, w := range waiters {
		w.Done(err)
	}
	s.subscribers.Grown()
	s.scheduleTimer()
}

// logger returns the log with the session and its agent. It is called on the session's goroutine.
func (s *Session) logger() *slog.Logger {
	return s.hub.log.With("session", s.id, "agent", s.spec.Agent)
}

// mayStart reports whether a turn may start now.
func (s *Session) mayStart() bool { return s.turn == nil && !s.undoing && !s.exit.closing(s.state) }

// shutdown ends the session for a stop of the server. A turn whose agent resumes turns stays open;
// any other ends.
func (s *Session) shutdown() {
	s.exit.shuttingDown = true
	switch t := s.turn; {
	case t == nil:
	case t.reason != "": // already stopped by a command, which waits
		s.endTurn(agent.End{})
	case s.slot.Capabilities().Resumes:
		s.turn = nil
		t.cancel(errShutdown)
		close(t.done)
	default:
		t.queue = protocol.HoldRestart
		s.endTurn(
			agent.End{Reason: protocol.ReasonError, Code: protocol.CodeServerRestart, Message: "the server was stopped"},
		)
	}
	s.closeAgent()
	s.journal.AfterCommit(func(error) { s.exit.ending = true })
}
