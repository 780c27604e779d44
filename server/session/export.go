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

// exported is what a signed state holds. Environment and rules stay behind: the first may be secret, the second were given
// to this session.
type exported struct {
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

// export signs the session's state so that restore makes another session of it.
func (s *Session) export(a *action, _ *protocol.Empty) (any, error) {
	sign := func(memory []byte) (any, error) {
		at := stamp()
		x := exported{
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
			Expires: at.Add(s.hub.cfg.StateTTL),
		}
		s.record(protocol.StateExported, &a.by, protocol.StateExportedData{Expires: r.Expires, Bytes: len(raw)})
		return r, nil
	}
	x, err := able[Exporter](s, "export its state")
	if err != nil {
		return sign(s.spec.State)
	}
	s.aside(a, func(ctx context.Context) (any, error) { return x.Export(ctx) }, func(v any) (any, error) { return sign(v.([]byte)) })
	return nil, errLater
}

func (h *Hub) sign(state []byte) string {
	mac := hmac.New(sha256.New, h.cfg.Secret)
	mac.Write([]byte(stateVersion + "\n"))
	mac.Write(state)
	return hex.EncodeToString(mac.Sum(nil))
}

// verify reads back what export signed. The error has the code invalid_state.
func (h *Hub) verify(st protocol.SignedState) (*exported, error) {
	if st.Version != stateVersion {
		return nil, protocol.Errorf(protocol.CodeInvalidState, "state version %.20q is not %s", st.Version, stateVersion)
	}
	if !hmac.Equal([]byte(st.Signature), []byte(h.sign(st.State))) {
		return nil, protocol.Errorf(protocol.CodeInvalidState, "the signature does not fit: the state was changed, or another server signed it")
	}
	x := new(exported)
	if err := json.Unmarshal(st.State, x); err != nil || x.Session == "" || x.Agent == "" || x.At.IsZero() {
		return nil, protocol.Errorf(protocol.CodeInvalidState, "the state lacks required fields")
	}
	if age := time.Since(x.At); age > h.cfg.StateTTL {
		return nil, protocol.Errorf(protocol.CodeInvalidState, "the state expired %s ago", (age - h.cfg.StateTTL).Round(time.Second))
	}
	return x, nil
}

// restore makes a session of an exported state; the exported one lives on.
func (h *Hub) restore(a *action, d *protocol.RestoreData) error {
	x, err := h.verify(d.State)
	if err != nil {
		return err
	}
	return h.make(a, Spec{Agent: x.Agent, CWD: x.CWD, State: x.Memory}, d.Name, func(s *Session) (protocol.CreateResult, error) {
		s.record(protocol.SessionCreated, &a.by, protocol.SessionCreatedData{Name: d.Name, Title: x.Title, Agent: x.Agent, CWD: x.CWD})
		s.record(protocol.StateRestored, &a.by, protocol.StateRestoredData{Session: x.Session, Position: x.Position, Exported: x.At})
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
		s.next()
		return protocol.CreateResult{Session: s.id, Name: d.Name}, nil
	})
}

// recordPlan records a plan as it was left.
func (s *Session) recordPlan(p *protocol.Plan) {
	s.record(protocol.PlanStarted, nil, protocol.PlanStartedData{Question: p.Question})
	tasks := protocol.PlanTasksData{Tasks: p.Tasks, Summary: p.Summary}
	if p.Status == protocol.StatusCompleted {
		s.record(protocol.PlanCompleted, nil, tasks)
		return
	}
	s.record(protocol.PlanUpdated, nil, tasks)
	ends := map[string]protocol.Type{
		protocol.StatusInvalid: protocol.PlanInvalid, protocol.StatusCancelled: protocol.PlanCancelled, protocol.StatusFailed: protocol.PlanFailed,
	}
	if end, ok := ends[p.Status]; ok {
		s.record(end, nil, protocol.PlanErrorData{})
	}
}
