package session

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/eventlog"
)

// maxForked bounds the events of the finished turns that a fork copies, in bytes.
const maxForked = 16 << 20

// A forkSource is a session that is forked, at one moment.
type forkSource struct {
	forker agent.Forker
	spec   agent.Spec
	title  string
	at     protocol.Position
	err    error
}

// fork makes a new session from the first turns of another, which is unchanged.
func (h *Hub) fork(ctx context.Context, cmd *command, session string, d *protocol.ForkData) error {
	if d.Before && d.Turn == "" {
		return protocol.Errorf(protocol.CodeInvalidMessage, "before: needs a turn")
	}
	sources := make(chan forkSource, 1)
	err := h.ask(ctx, session, func(s *Session) { s.forkSource(sources) }, func(err error) {
		sources <- forkSource{err: err}
	})
	if err != nil {
		return err
	}
	var source forkSource
	select {
	case source = <-sources:
	case <-ctx.Done():
		return fmt.Errorf("fork %s: %w", session, context.Cause(ctx))
	}
	if source.err != nil {
		return source.err
	}
	last, earlier, err := h.findTurn(ctx, source.spec.Session, source.at.Seq, d)
	if err != nil {
		return err
	}
	return h.createFork(ctx, cmd, d.Name, &source, last, earlier)
}

// forkSource sends what the session is once all of it is visible.
func (s *Session) forkSource(to chan<- forkSource) {
	source := forkSource{
		spec: s.spec, title: s.state.Title, at: protocol.Position{Epoch: s.journal.Log().Position().Epoch, Seq: s.state.Seq},
	}
	if s.state.Closed {
		source.err = protocol.Errorf(protocol.CodeSessionClosed, "session %s is closed", s.id)
	} else {
		source.forker, source.err = requireCapability[agent.Forker](s, "fork its conversation")
	}
	s.journal.AfterCommit(func(failed error) {
		if source.err == nil {
			source.err = failed
		}
		to <- source
	})
}

// findTurn returns the last turn of a fork, which is nil if it has none, and the number of turns
// before it.
func (h *Hub) findTurn(
	ctx context.Context, id string, head uint64, d *protocol.ForkData,
) (last *eventlog.TurnRow, earlier int, err error) {
	var rows []eventlog.TurnRow // newest first
	for before := head + 1; ; before = rows[len(rows)-1].First {
		page, err := h.cfg.Store.Turns(ctx, id, before, 200)
		if err != nil {
			return nil, 0, h.readError(id, err)
		}
		if rows = append(rows, page...); len(page) == 0 {
			break
		}
	}
	i := 0
	if d.Turn != "" {
		i = slices.IndexFunc(rows, func(r eventlog.TurnRow) bool { return r.Turn == d.Turn })
		if n, err := strconv.Atoi(d.Turn); i < 0 && err == nil && n >= 1 && n <= len(rows) {
			i = len(rows) - n
		}
		if i < 0 {
			return nil, 0, protocol.Errorf(protocol.CodeNotFound,
				"no finished turn %.80q: want its id, or a number from 1 to %d", d.Turn, len(rows))
		}
	}
	if d.Before {
		i++
	}
	if i >= len(rows) {
		return nil, 0, nil
	}
	return &rows[i], len(rows) - i - 1, nil
}

// createFork makes the session of a fork that ends with a turn.
func (h *Hub) createFork(
	ctx context.Context, cmd *command, name string, source *forkSource, last *eventlog.TurnRow, earlier int,
) error {
	turn, through := "", uint64(0)
	if last != nil {
		turn, through = last.Turn, last.Last
	}
	remembered := turn
	if source.spec.Imported { // the agent has none of the turns: the fork's gets them with its first message
		remembered = ""
	}
	memory, err := source.forker.Fork(ctx, remembered)
	if err != nil {
		return agentError(err)
	}
	x := exportedState{}
	if last != nil {
		turns, err := h.readPast(ctx, source.spec.Session, through, maxForked)
		if err != nil {
			return err
		}
		for _, t := range slices.Backward(turns) {
			x.History = append(x.History, t.events...)
		}
		x.LeftOut = max(0, earlier+1-len(turns))
	}
	past, err := checkPast(x.History, nil)
	if err != nil {
		return protocol.Errorf(protocol.CodeCorrupt, "the history of the session cannot be copied: %v", err)
	}
	spec := source.spec
	spec.Session, spec.Load, spec.IdleEnd, spec.Checking = "", "", nil, false
	spec.State, spec.Parent = memory, cmd.agent
	spec.Imported = spec.Imported && last != nil
	c := creation{cmd: cmd, name: name}
	c.begin = func(s *Session) error {
		s.record(protocol.SessionCreated, &cmd.by, protocol.SessionCreatedData{
			Name: name, Title: source.title, Agent: spec.Agent, CWD: spec.CWD, Parent: cmd.agent,
		})
		s.record(protocol.StateRestored, &cmd.by, protocol.StateRestoredData{
			Session:  source.spec.Session,
			Position: protocol.Position{Epoch: source.at.Epoch, Seq: through}, Exported: timestamp(),
		})
		if x.LeftOut > 0 {
			s.record(protocol.Notice, nil, protocol.NoticeData{Level: protocol.LevelInfo, Message: x.leftOutNotice()})
		}
		return s.recordPast(past)
	}
	return h.createSession(spec, c)
}
