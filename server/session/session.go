package session

import (
	"context"
	"time"

	"agentctl/protocol"
)

// A Session is one session in memory. Its goroutine (run) owns it: everybody else posts functions, the agent sends what it
// says, commits report back. It ends when the hub stops it, when it was deleted, or when it is idle and unwatched for long.
type Session struct {
	// Static after construction.

	id         string
	hub        *Hub
	inbox      chan func()    // unbuffered: a post that succeeded is run
	output     chan *emission // of the agent
	stop       chan struct{}  // closed by the hub at shutdown
	done       chan struct{}  // closed when run has ended
	host       *host
	background context.Context // cancelled by halt when run ends
	halt       context.CancelFunc

	// Owned by run.

	journal
	spec      Spec
	agent     Agent
	traits    Capabilities
	boundary  []byte // the state at the end of the last visible turn, encoded
	boundSeq  uint64
	turn      *turn
	approvals approvals
	answers   answers
	audience  audience
	editors   map[string]editor // by hold
	summary   protocol.Summary  // as told last
	changed   bool              // the summary may differ from what was told last
	touched   time.Time
	mendAt    time.Time // after a failed commit: when a turn that was cut is ended; zero: nothing to mend
	live      bool      // as the store knows it
	timer     *time.Timer
	closing   []closing // closes that wait for the end of the turn
	asides    int       // commands that the agent works on
	shutting  bool      // no turn may start any more
	ending    bool      // run returns
}

// post runs f on the session's goroutine. It returns false when the session has ended.
func (s *Session) post(f func()) bool {
	select {
	case s.inbox <- f:
		return true
	case <-s.done:
		return false
	}
}

// run is the session's goroutine.
func (s *Session) run() {
	defer s.hub.sessions.Done()
	defer s.hub.unloaded(s)
	defer close(s.done)
	defer s.timer.Stop()
	defer s.halt()
	stop := s.stop
	for {
		s.tellSummary()
		s.flush()
		if s.ending {
			break
		}
		var output chan *emission
		if s.unseen < maxUnseen {
			output = s.output
		}
		select {
		case f := <-s.inbox:
			f()
		case em := <-output:
			s.take(em)
		case err := <-s.committed:
			s.settled(err)
		case <-s.timer.C:
			s.tick()
		case <-stop:
			stop = nil
			s.shutdown()
		}
		s.drain()
	}
	s.finish()
}

// drain takes what waits already, commands before the agent, so that a commit holds more than one event under load.
func (s *Session) drain() {
	for range 512 {
		if s.ending {
			return
		}
		select {
		case f := <-s.inbox:
			f()
			continue
		default:
		}
		if s.unseen >= maxUnseen {
			return
		}
		select {
		case em := <-s.output:
			s.take(em)
		default:
			return
		}
	}
}

// finish keeps what was recorded last and answers everybody who waits still, before the session is gone.
func (s *Session) finish() {
	for s.inAir != nil || s.batch != nil {
		s.flush()
		s.settled(<-s.committed)
	}
	s.answers.forsake(stopping())
}

// record appends an event that the session itself makes. Its data is ours and always fits unless it holds a user's text, which
// the caller has bounded: a failure is a fault of this package, is logged, and ends nothing.
func (s *Session) record(typ protocol.Type, by *protocol.Actor, data any) *protocol.Event {
	return s.recordIn(s.turnID(), typ, by, data)
}

func (s *Session) recordIn(turn string, typ protocol.Type, by *protocol.Actor, data any) *protocol.Event {
	e := s.put(turn, entry{typ: typ, by: by}, data)
	if e == nil {
		return &protocol.Event{Seq: s.state.Seq}
	}
	s.touched = e.Time
	return e
}

// recordTask is record for an event of a task or a parent.
func (s *Session) recordTask(typ protocol.Type, task, parent string, data any) {
	s.put(s.turnID(), entry{typ: typ, task: task, parent: parent}, data)
}

// put appends an entry with data; nil when it could not.
func (s *Session) put(turn string, en entry, data any) (e *protocol.Event) {
	var err error
	if en.data, err = encode(data); err == nil {
		e, err = s.append(turn, en)
	}
	if err != nil {
		s.hub.log.Error("record event", "session", s.id, "type", en.typ, "err", err)
		return nil
	}
	s.changed = true
	return e
}

func (s *Session) turnID() string {
	if s.state.Turn == nil {
		return ""
	}
	return s.state.Turn.Turn
}

// settled goes on after a commit: who waited is told; after a failure the session falls back to what the store holds.
func (s *Session) settled(err error) {
	waiters := s.settle(err)
	if err != nil {
		s.hub.log.Error("commit", "session", s.id, "err", err)
		s.fallBack()
		err = notKept()
	}
	for _, f := range waiters {
		f(err)
	}
	s.audience.moved()
	s.arm()
}

// leaving reports whether no further turn may start.
func (s *Session) leaving() bool { return s.shutting || len(s.closing) > 0 || s.state.Closed }

// shutdown lets the session come to an end: a turn under way is cut, unless its agent goes on with it after the restart.
func (s *Session) shutdown() {
	s.shutting = true
	switch t := s.turn; {
	case t == nil:
	case t.reason != "": // somebody ended it, and waits
		s.endTurn(End{})
	case s.traits.Resumes:
		s.turn = nil
		t.cancel(errShutdown)
		close(t.over)
	default:
		t.queue = protocol.HoldRestart
		s.endTurn(End{Reason: protocol.ReasonError, Code: protocol.CodeServerRestart, Message: "the server was stopped"})
	}
	s.closeAgent()
	s.then(func(error) { s.ending = true })
}

// unload ends the session's goroutine; the next use loads it again.
func (s *Session) unload() {
	s.closeAgent()
	s.ending = true
}
