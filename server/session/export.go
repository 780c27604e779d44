package session

import (
	"context"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/session/record"
)

func init() {
	handlers[protocol.DoExport] = handler((*Session).export)
}

const stateVersion = "1"

// exportedState is the content of a signed state. It carries neither environment, which may be
// secret, nor rules, which were granted to the exported session alone.
type exportedState struct {
	Session  string                `json:"session"`
	Position protocol.Position     `json:"position"`
	At       time.Time             `json:"at"`
	Agent    string                `json:"agent"`
	CWD      string                `json:"cwd,omitempty"`
	Title    string                `json:"title,omitempty"`
	Memory   []byte                `json:"memory,omitempty"` // the agent's own state
	Queue    []protocol.Message    `json:"queue,omitempty"`
	Schedule []protocol.Message    `json:"schedule,omitempty"` // messages for later
	Plan     *protocol.Plan        `json:"plan,omitempty"`
	Context  *protocol.ContextInfo `json:"context,omitempty"`
	Usage    *protocol.Usage       `json:"usage,omitempty"`
	History  []pastEvent           `json:"history,omitempty"`  // of the newest finished turns
	LeftOut  int                   `json:"left_out,omitempty"` // finished turns before them
}

// export signs the session's state for restore. The newest finished turns are read from the store
// off the session's goroutine.
func (s *Session) export(cmd *command, _ *protocol.Empty) (any, error) {
	st := s.state.Clone()
	x := exportedState{
		Session: s.id, Agent: s.spec.Agent, CWD: s.spec.CWD, Title: st.Title, Memory: s.spec.State,
		Position: protocol.Position{Epoch: s.journal.Log().Position().Epoch, Seq: st.Seq},
		Queue:    st.Queue, Schedule: st.Scheduled, Plan: st.Plan, Context: st.Context, Usage: st.Usage,
	}
	run := s.runInBackground
	exporter, err := requireCapability[agent.Exporter](s, "export its state")
	if err == nil {
		run = s.runAsync
	}
	work := func(ctx context.Context) (any, error) {
		if exporter != nil {
			if x.Memory, err = exporter.Export(ctx); err != nil {
				return nil, err
			}
		}
		turns, err := s.hub.readPast(ctx, s.id, st.Seq, maxExported)
		if err != nil {
			return nil, err
		}
		return nil, x.setHistory(turns, st.Turns)
	}
	finish := func(any) (any, error) {
		x.At = timestamp()
		raw, err := record.Encode(x)
		if err != nil {
			return nil, err
		}
		r := protocol.ExportResult{
			State:   s.hub.cfg.signState(raw),
			Expires: x.At.Add(s.hub.settings().StateTTL),
		}
		s.record(protocol.StateExported, &cmd.by, protocol.StateExportedData{Expires: r.Expires, Bytes: len(raw)})
		return r, nil
	}
	s.journal.AfterCommit(func(failed error) { // the store has every turn up to the position
		if failed != nil {
			s.answer(cmd, nil, failed)
			return
		}
		run(cmd, work, finish)
	})
	return nil, errAnswerLater
}
