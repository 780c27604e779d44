package acp

import (
	"context"

	"agentctl/server/agent"
)

// A LoginMethod is a way to log in that an agent offers.
type LoginMethod struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// A Probed is what an agent tells at its start.
type Probed struct {
	Name    string // its own; empty: it did not tell
	Version string
	Methods []LoginMethod
}

// Probe starts an agent in a directory and ends it. The error is that of a start for a session:
// no_agent, agent_auth_required, agent_failed or timeout. The result holds what was told before it.
func Probe(ctx context.Context, config Config, spec agent.Spec) (Probed, error) {
	a, err := New(config, spec, probeHost{})
	if err != nil {
		return Probed{}, err
	}
	var p Probed
	a.initialized = func(r *initializeResult) {
		if r.Agent != nil {
			p.Name, p.Version = r.Agent.Name, r.Agent.Version
			if r.Agent.Title != "" {
				p.Name = r.Agent.Title
			}
		}
		for _, m := range r.AuthMethods {
			p.Methods = append(p.Methods, LoginMethod{m.ID, m.Name, m.Description})
		}
	}
	err = a.Start(ctx)
	_ = a.Close() // never fails
	return p, err
}

// A probeHost drops what a probed agent emits.
type probeHost struct{}

var _ agent.Host = probeHost{}

func (probeHost) Emit(agent.Event) error                          { return nil }
func (probeHost) Save([]byte) error                               { return nil }
func (probeHost) RecordProcessGroup(agent.ProcessGroup) error     { return nil }
func (probeHost) Transcript(context.Context, int) (string, error) { return "", nil }
func (probeHost) RecordConversation(_, _ string) error            { return nil }
func (probeHost) Logf(string, ...any)                             {}
