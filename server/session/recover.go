package session

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/eventlog"
	"agentctl/server/session/approval"
	"agentctl/server/session/item"
	"agentctl/server/session/stored"
)

// recover opens the store at start-up: it kills recorded process groups, fills the list, and loads
// the sessions with work in progress.
func (h *Hub) recover(ctx context.Context) error {
	if err := h.processes.KillLeft(ctx, h.cfg.KillProcessGroup); err != nil {
		return err
	}
	var live []string
	for rec, err := range h.cfg.Store.Sessions(ctx) {
		if err != nil {
			return fmt.Errorf("read sessions: %w", err)
		}
		if stored.Unanswered(rec) {
			h.committer.Submit(&eventlog.Batch{Session: rec.ID, Delete: true}, func(error) {})
			continue
		}
		h.listStored(rec)
		if rec.Live {
			live = append(live, rec.ID)
		}
	}
	removeFiles(h.cfg.Agents, h.list.Exists)
	recoverSubAgents(h)
	for _, id := range live {
		if err := h.loadLive(ctx, id); err != nil {
			h.log.Error("load session with work in progress", "session", id, "err", err)
		}
	}
	return nil
}

// listStored adds a session of the store to the list, at start-up.
func (h *Hub) listStored(rec eventlog.Record) {
	sum := protocol.Summary{Session: rec.ID, Attributes: protocol.Attributes{Created: rec.Created}}
	if err := json.Unmarshal(rec.Summary, &sum); err != nil {
		h.log.Error("decode summary", "session", rec.ID, "err", err)
	}
	sum.Session, sum.Epoch, sum.Clients = rec.ID, rec.Epoch, 0
	h.list.Add(sum, nil)
	if sum.SubAgent {
		h.subAgents.Load(rec.ID, sum.Parent)
	}
	c, ok := h.cfg.Agents.(Conversations)
	if !ok || sum.Status == protocol.Closed || !c.HasConversations(sum.Agent) {
		return
	}
	if spec, err := stored.DecodeSpec(rec); err == nil {
		h.list.HoldConversation(c.Conversation(&spec), rec.ID)
	}
}

// loadLive loads a session and returns when the events of its recovery are visible.
func (h *Hub) loadLive(ctx context.Context, id string) error {
	return h.await(ctx, id, func(s *Session, visible func(error)) {
		s.recorder.Publish(s.subscribers.Len())
		s.journal.AfterCommit(visible)
	})
}

// recover continues a session after a restart of the server: it resumes an open turn if the agent
// can, else aborts it. It runs before the session's goroutine starts.
func (s *Session) recover() {
	s.queue.Adopt(s.state, time.Now().Add(s.hub.settings().EditHold))
	s.resolve(approval.CancelSubAgents(s.state)...)
	if s.state.Turn == nil {
		s.startNext()
		return
	}
	if _, err := s.openAgent(); err == nil && s.slot.Capabilities().Resumes {
		s.resumeTurn()
		return
	}
	s.abortTurn(protocol.CodeServerRestart, "the server was restarted during this turn", protocol.HoldRestart)
}

// resumeTurn lets the agent continue the open turn. Requests stay pending under their ids. Running
// tools end as unknown: they may have had effects and are not run again.
func (s *Session) resumeTurn() {
	st := s.state.Turn
	shown := eventlog.TurnRow{Turn: st.Turn, First: st.First, Last: s.state.Seq}
	s.recorder.RecordAll(item.EndTools(st)...)
	started := protocol.TurnStartedData{MessageID: st.Message.MessageID, Agent: s.state.Agent, Resumed: true}
	s.recorder.Record(protocol.TurnStarted, st.Message.By, started)
	s.runAgent(agent.Turn{ID: st.Turn, Message: st.Message, Plan: planOf(st.Message), Resumed: true}, shown)
}
