package session

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"agentctl/protocol"
)

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
	Plan     *protocol.Plan        `json:"plan,omitempty"`
	Context  *protocol.ContextInfo `json:"context,omitempty"`
	Usage    *protocol.Usage       `json:"usage,omitempty"`
}

// export signs the session's state for restore.
func (s *Session) export(cmd *command, _ *protocol.Empty) (any, error) {
	sign := func(memory []byte) (any, error) {
		at := timestamp()
		x := exportedState{
			Session: s.id, At: at, Agent: s.spec.Agent, CWD: s.spec.CWD, Title: s.state.Title, Memory: memory,
			Position: protocol.Position{Epoch: s.log.Position().Epoch, Seq: s.state.Seq},
			Queue:    s.state.Queue, Plan: s.state.Plan, Context: s.state.Context, Usage: s.state.Usage,
		}
		raw, err := encode(x)
		if err != nil {
			return nil, err
		}
		r := protocol.ExportResult{
			State:   protocol.SignedState{Version: stateVersion, State: raw, Signature: s.hub.sign(raw)},
			Expires: at.Add(s.hub.settings().StateTTL),
		}
		s.record(protocol.StateExported, &cmd.by, protocol.StateExportedData{Expires: r.Expires, Bytes: len(raw)})
		return r, nil
	}
	x, err := requireCapability[Exporter](s, "export its state")
	if err != nil {
		return sign(s.spec.State)
	}
	s.runAsync(
		cmd,
		func(ctx context.Context) (any, error) { return x.Export(ctx) },
		func(v any) (any, error) { return sign(v.([]byte)) },
	)
	return nil, errAnswerLater
}

// sign returns the HMAC of an exported state, in hex.
func (h *Hub) sign(state []byte) string {
	mac := hmac.New(sha256.New, h.cfg.Secret)
	mac.Write([]byte(stateVersion + "\n"))
	mac.Write(state)
	return hex.EncodeToString(mac.Sum(nil))
}

// verify checks and decodes a signed state. The error has the code invalid_state.
func (h *Hub) verify(st protocol.SignedState) (*exportedState, error) {
	if st.Version != stateVersion {
		return nil, protocol.Errorf(
			protocol.CodeInvalidState,
			"state version %.20q is not %s",
			st.Version,
			stateVersion,
		)
	}
	if !hmac.Equal([]byte(st.Signature), []byte(h.sign(st.State))) {
		return nil, protocol.Errorf(
			protocol.CodeInvalidState,
			"invalid signature: the state was changed, or another server signed it",
		)
	}
	x := new(exportedState)
	if err := json.Unmarshal(st.State, x); err != nil || x.Session == "" || x.Agent == "" || x.At.IsZero() {
		return nil, protocol.Errorf(protocol.CodeInvalidState, "the state lacks required fields")
	}
	if age := time.Since(x.At); age > h.settings().StateTTL {
		return nil, protocol.Errorf(
			protocol.CodeInvalidState,
			"the state expired %s ago",
			(age - h.settings().StateTTL).Round(time.Second),
		)
	}
	return x, nil
}

// restore makes a new session from an exported state. The exported session is unchanged.
func (h *Hub) restore(cmd *command, d *protocol.RestoreData) error {
	x, err := h.verify(d.State)
	if err != nil {
		return err
	}
	spec := Spec{Agent: x.Agent, CWD: x.CWD, State: x.Memory, Parent: cmd.agent}
	c := creation{cmd: cmd, name: d.Name}
	c.begin = func(s *Session) error {
		s.record(
			protocol.SessionCreated,
			&cmd.by,
			protocol.SessionCreatedData{
				Name: d.Name, Title: x.Title, Agent: x.Agent, CWD: x.CWD, Parent: cmd.agent,
			},
		)
		s.record(
			protocol.StateRestored,
			&cmd.by,
			protocol.StateRestoredData{Session: x.Session, Position: x.Position, Exported: x.At},
		)
		if x.Plan != nil {
			s.recordPlan(x.Plan)
		}
		if x.Context != nil {
			s.record(protocol.ContextUpdated, nil, *x.Context)
		}
		if x.Usage != nil {
			s.record(protocol.UsageUpdated, nil, *x.Usage)
		}
		for _, m := range x.Queue {
			s.record(protocol.QueueAdded, m.By, protocol.QueueAddedData{Message: m})
		}
		s.startNext()
		return nil
	}
	return h.createSession(spec, c)
}

// recordPlan records the events that lead to a plan.
func (s *Session) recordPlan(p *protocol.Plan) {
	s.record(protocol.PlanStarted, nil, protocol.PlanStartedData{Question: p.Question})
	tasks := protocol.PlanTasksData{Tasks: p.Tasks, Summary: p.Summary}
	if p.Status == protocol.StatusCompleted {
		s.record(protocol.PlanCompleted, nil, tasks)
		return
	}
	s.record(protocol.PlanUpdated, nil, tasks)
	ends := map[string]protocol.Type{
		protocol.StatusInvalid: protocol.PlanInvalid, protocol.StatusCancelled: protocol.PlanCancelled,
		protocol.StatusFailed: protocol.PlanFailed,
	}
	if end, ok := ends[p.Status]; ok {
		s.record(end, nil, protocol.PlanErrorData{})
	}
}
