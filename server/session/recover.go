package session

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"agentctl/protocol"
)

func (h *Hub) recover(ctx context.Context) error {
	groups, err := h.cfg.Store.ProcessGroups(ctx)
	if err != nil {
		return fmt.Errorf("read process groups: %w", err)
	}
	var ending sync.WaitGroup
	for _, g := range groups {
		ending.Go(func() { // each may take its time to end
			if err := h.cfg.KillProcessGroup(g); err != nil {
				h.log.Warn("end left process group", "session", g.Session, "pid", g.PID, "err", err)
			}
		})
	}
	ending.Wait()
	for _, g := range groups {
		g.Ended = true
		h.commit(&Batch{Session: g.Session, ProcessGroups: []ProcessGroup{g}}, func(error) {})
	}
	records, err := h.cfg.Store.Sessions(ctx)
	if err != nil {
		return fmt.Errorf("read sessions: %w", err)
	}
	for _, rec := range records {
		r := &row{summary: protocol.Summary{Session: rec.ID, Created: rec.Created}}
		if err := json.Unmarshal(rec.Summary, &r.summary); err != nil {
			h.log.Error("decode summary", "session", rec.ID, "err", err)
		}
		r.summary.Epoch, r.summary.Clients = rec.Epoch, 0
		h.rows[rec.ID] = r
		if r.summary.Name != "" {
			h.names[r.summary.Name] = rec.ID
		}
	}
	for _, rec := range records {
		if rec.Live {
			if err := h.settled(ctx, rec.ID); err != nil {
				h.log.Error("load session that was at work", "session", rec.ID, "err", err)
			}
		}
	}
	return nil
}

// settled loads a session and returns when what its recovery recorded is visible.
func (h *Hub) settled(ctx context.Context, id string) error {
	visible := make(chan error, 1)
	if err := h.with(ctx, id, func(s *Session) {
		s.tellSummary()
		s.then(func(err error) { visible <- err })
	}); err != nil {
		return err
	}
	select {
	case err := <-visible:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// recover goes on after a restart of the server: a turn that was under way is resumed where the agent can, else cut; an edit
// hold's connection is gone. It runs before the session's goroutine does.
func (s *Session) recover() {
	s.adoptEdits()
	if s.state.Turn == nil {
		s.next()
		return
	}
	if _, err := s.open(); err == nil && s.traits.Resumes {
		s.resume()
		return
	}
	s.cutTurn(protocol.CodeServerRestart, "the server was restarted during this turn", protocol.HoldRestart)
}

// resume lets the agent go on with the turn that was cut. Its requests stay pending under their ids; a tool that had started
// may have done anything and is not run again.
func (s *Session) resume() {
	st := s.state.Turn
	for _, tool := range slices.Clone(st.Tools) {
		s.recordTask(protocol.ToolEnded, tool.Task, tool.Parent, protocol.ToolEndedData{Tool: tool.Tool, Status: protocol.ToolUnknown})
	}
	s.record(protocol.TurnStarted, st.Message.By, protocol.TurnStartedData{MessageID: st.Message.MessageID, Agent: s.state.Agent, Resumed: true})
	s.launch(Turn{ID: st.Turn, Message: st.Message, Plan: planOf(st.Message), Resumed: true})
}
