package session

import (
	"context"
	"errors"

	"agentctl/protocol"
	"agentctl/server/eventlog"
	"agentctl/server/session/approval"
	"agentctl/server/session/list"
	"agentctl/server/session/record"
	"agentctl/server/session/recorder"
	"agentctl/server/session/upkeep"
)

func init() {
	handlers[protocol.DoClose] = handler((*Session).close)
}

// close closes the session: it interrupts a running turn, closes the agent and, with Delete,
// removes everything.
func (s *Session) close(cmd *command, d *protocol.CloseData) (any, error) {
	if s.turn != nil {
		s.exit.closes = append(s.exit.closes, cmd)
		s.stopTurn(protocol.ReasonInterrupted, &cmd.By, protocol.QueueKeep)
		return nil, errAnswerLater
	}
	return s.closeNow(cmd, d)
}

// closeNow closes the session between turns.
func (s *Session) closeNow(cmd *command, d *protocol.CloseData) (any, error) {
	if !s.state.Closed {
		reason := protocol.SplitText(protocol.ValidText(d.Reason), record.ShortText)[0]
		s.recorder.Record(protocol.SessionClosed, &cmd.By, protocol.SessionClosedData{Reason: reason})
		s.queue.Close()
	}
	s.resolve(approval.CancelAll(s.state)...)
	s.closeAgent()
	s.journal.AfterCommit(func(failed error) {
		if failed != nil {
			s.answer(cmd, nil, failed)
			return
		}
		closeSubAgents(s, cmd, d, func() {
			if d.Delete {
				s.releaseWorktree(cmd, d, func(r protocol.CloseResult) { s.delete(cmd, r) })
			} else {
				s.answer(cmd, protocol.CloseResult{}, nil)
			}
		})
	})
	return nil, errAnswerLater
}

// delete removes the session from the store and ends it. Of the session only the answer to this
// command stays stored.
func (s *Session) delete(cmd *command, r protocol.CloseResult) {
	if s.exit.ending { // another command has removed it
		s.idempotency.Remove(cmd.Key, nil, list.NotFound(s.id))
		cmd.Answer(nil, list.NotFound(s.id))
		return
	}
	b := &eventlog.Batch{Session: s.id, Delete: true}
	body := protocol.MustEncode(r)
	if cmd.Key != "" {
		b.Answers = []eventlog.Answer{cmd.Stored(s.id, body)}
	}
	if err := s.hub.committer.Commit(b); err != nil {
		s.logger().Error("delete session", "err", err)
		s.answer(
			cmd,
			nil,
			protocol.Errorf(protocol.CodeStorage, "the store failed; the session is closed but not deleted, try again"),
		)
		return
	}
	s.logger().Info("session.deleted", "actor", recorder.ActorName(&cmd.By))
	s.exit.ending = true
	sum := s.recorder.Summary(s.subscribers.Len())
	sum.Deleted, sum.Status = true, protocol.Closed
	s.journal.Log().End() // a client that reads on, or lists, after the summary finds no session
	s.hub.list.Remove(sum)
	s.hub.subAgents.Remove(s.id)
	s.subscribers.Broadcast(protocol.SummaryChanged, sum)
	removeFiles(s.hub.cfg.Agents, func(session string) bool { return session != s.id })
	s.idempotency.Remove(cmd.Key, body, nil)
	cmd.Answer(body, nil)
	for _, w := range s.journal.DiscardPending() {
		w.Done(list.NotFound(s.id))
	}
}

// removeUnused removes a session, unless it is in use by now. It returns when that is done, or ctx
// ends.
func (h *Hub) removeUnused(ctx context.Context, id string) {
	err := h.await(ctx, id, func(s *Session, done func(error)) {
		if sum := s.recorder.Summary(s.subscribers.Len()); upkeep.InUse(&sum) {
			done(errors.New("it is in use"))
			return
		}
		remove := &protocol.CloseData{Delete: true, Reason: "retention"}
		s.do(ownCommand(protocol.DoClose, remove, protocol.Actor{Name: "retention"}, done))
	})
	if err != nil {
		h.log.Info("a session to be removed by retention stays", "session", id, "err", err)
		return
	}
	h.log.Info("removed by retention", "session", id)
}
