package session

import (
	"cmp"
	"context"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/archive"
	"agentctl/server/eventlog"
	"agentctl/server/session/approval"
	"agentctl/server/session/record"
	"agentctl/server/session/slot"
)

func init() {
	handlers[protocol.DoExport] = handler((*Session).export)
}

// export signs the session's state for restore. The newest finished turns are read from the store
// off the session's goroutine.
func (s *Session) export(cmd *command, _ *protocol.Empty) (any, error) {
	st := s.state.Clone()
	x := archive.NewState(&s.spec, st, s.journal.Log().Position().Epoch)
	exporter, err := requireCapability[agent.Exporter](s, "export its state")
	work := func(ctx context.Context) (*archive.State, error) {
		if exporter != nil {
			if x.Memory, err = exporter.Export(ctx); err != nil {
				return nil, err
			}
		}
		turns, err := archive.ReadTurns(ctx, s.hub.cfg.Store, s.hub.log, s.id, st.Seq, archive.MaxState)
		if err != nil {
			return nil, readError(s.hub.log, s.id, err)
		}
		if err := x.AddHistory(turns, st.Turns); err != nil {
			return nil, err
		}
		of, err := storedSubAgents(ctx, s.hub, s.id)
		if err == nil {
			err = x.AddSubAgents(ctx, s.hub.cfg.Store, s.hub.log, of)
		}
		if err != nil {
			return nil, readError(s.hub.log, s.id, err)
		}
		return x, nil
	}
	finish := func(x *archive.State) (any, error) {
		x.At = record.Time(time.Now())
		raw, err := record.Encode(x)
		if err != nil {
			return nil, err
		}
		r := protocol.ExportResult{State: s.hub.cfg.Sign(raw), Expires: x.At.Add(s.hub.settings().StateTTL)}
		s.recorder.Record(protocol.StateExported, &cmd.By, protocol.StateExportedData{Expires: r.Expires, Bytes: len(raw)})
		return r, nil
	}
	s.journal.AfterCommit(func(failed error) { // the store has every turn up to the position
		if failed != nil {
			s.answer(cmd, nil, failed)
			return
		}
		var preparation *slot.Preparation
		if exporter != nil {
			preparation = s.slot.Preparation()
		}
		_ = runAsync(s, cmd, preparation, work, unlessFailed(finish)) // answers later
	})
	return nil, errAnswerLater
}

// restore makes a new session from an exported state. The exported session is unchanged.
func (h *Hub) restore(cmd *command, d *protocol.RestoreData) error {
	x, err := h.cfg.Open(&d.State, h.settings().StateTTL)
	if err != nil {
		return err
	}
	id := NewID(idSession)
	past, err := x.Past(&cmd.By, newSubAgents(h, id))
	if err != nil {
		return err
	}
	spec := agent.Spec{Agent: x.Agent, CWD: x.CWD, State: x.Memory, Parent: cmd.Agent, Sandbox: x.Sandbox}
	c := creation{cmd: cmd, id: id, name: d.Name, title: x.Title, past: past, stored: true}
	return createWithSubAgents(h, spec, c)
}

// importLog makes a new session with the past of a log.
func (h *Hub) importLog(cmd *command, d *protocol.ImportData) error {
	past, err := archive.Import(d, &cmd.By)
	if err != nil {
		return err
	}
	return h.create(cmd, &d.CreateData, past)
}

// A forkSource is a session that is forked, at one moment.
type forkSource struct {
	forker agent.Forker
	spec   agent.Spec
	title  string
	at     protocol.Position
}

// fork makes a new session from the first turns of another, which is unchanged.
func (h *Hub) fork(ctx context.Context, cmd *command, session string, d *protocol.ForkData) error {
	if d.Before && d.Turn == "" {
		return protocol.Errorf(protocol.CodeInvalidMessage, "before: needs a turn")
	}
	var source forkSource
	err := h.await(ctx, session, func(s *Session, done func(error)) {
		var err error
		source, err = s.forkSource()
		s.journal.AfterCommit(func(failed error) { done(cmp.Or(err, failed)) })
	})
	if err != nil {
		return err
	}
	spec := source.spec
	f, err := archive.FindFork(ctx, h.cfg.Store, spec.Session, source.at, d)
	if err != nil {
		return readError(h.log, spec.Session, err)
	}
	remembered := f.Last()
	if spec.Imported { // the agent has none of the turns: the fork's gets them with its first message
		remembered = ""
	}
	memory, blobs, err := source.forker.Fork(ctx, remembered)
	if err != nil {
		return agentError(err)
	}
	of, err := storedSubAgents(ctx, h, spec.Session)
	if err != nil {
		return readError(h.log, spec.Session, err)
	}
	id := NewID(idSession)
	past, err := f.Past(ctx, h.cfg.Store, h.log, &cmd.By, of, newSubAgents(h, id))
	if err != nil {
		return readError(h.log, spec.Session, err)
	}
	spec.Session, spec.Load, spec.IdleEnd, spec.Checking = "", "", nil, false
	spec.State, spec.Parent, spec.AfterLimit = memory, cmd.Agent, nil
	spec.Imported = spec.Imported && f.Last() != ""
	c := creation{cmd: cmd, id: id, name: d.Name, title: source.title, past: past, blobs: blobs, stored: true}
	return createWithSubAgents(h, spec, c)
}

// forkSource returns the session's content, of which not all may be visible yet.
func (s *Session) forkSource() (forkSource, error) {
	if s.state.Closed {
		return forkSource{}, protocol.Errorf(protocol.CodeSessionClosed, "session %s is closed", s.id)
	}
	forker, err := requireCapability[agent.Forker](s, "fork its conversation")
	at := protocol.Position{Epoch: s.journal.Log().Position().Epoch, Seq: s.state.Seq}
	return forkSource{forker, s.spec, s.state.Title, at}, err
}

// recordPast records the past of a new session. Its turns keep their times and actors: they are not
// activity of the session.
func (s *Session) recordPast(past *archive.Past) error {
	s.recorder.RecordAll(past.Origin...)
	for i := range past.Turns {
		st := s.state.Turn
		e, err := s.recorder.Append(&past.Turns[i])
		if err != nil {
			return err
		}
		switch e.Type {
		case protocol.TurnEnded:
			s.recorder.EndTurn(st, e)
		case protocol.ApprovalResolved:
			var d protocol.ApprovalResolvedData
			if err := e.Decode(&d); err != nil {
				return err
			}
			r := approval.Resolution{ApprovalResolvedData: d, By: e.By, Turn: e.Turn}
			b := s.journal.NextBatch()
			b.Decisions = append(b.Decisions, eventlog.Decision{Request: d.Request, Data: r.Encode()})
		}
	}
	s.recorder.RecordAll(past.Rest...)
	s.startNext()
	s.queueTimeouts(time.Now()) // messages whose time has passed since the export
	return nil
}
