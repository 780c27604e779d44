package acp

import (
	"cmp"
	"context"

	"agentctl/server/agent"
)

// A LoginMethod is a way to log in that an agent offers.
type LoginMethod struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`

	Terminal bool              `json:"terminal,omitempty"` // by the program of the agent, in a terminal
	Args     []string          `json:"args,omitempty"`     // added to the program's
	Env      map[string]string `json:"env,omitempty"`      // added to the program's
}

// A Probed is what an agent reports at its start.
type Probed struct {
	Name    string // reported name; empty: none
	Version string
	Methods []LoginMethod
}

// Probe starts an agent in a directory and stops it. Its errors are the errors of a session's
// start: no_agent, agent_auth_required, agent_failed or timeout. With an error, the result holds
// what the agent reported before.
func Probe(ctx context.Context, config Config, spec agent.Spec) (Probed, error) {
	a, err := New(config, spec, probeHost{})
	if err != nil {
		return Probed{}, err
	}
	var p Probed
	a.initialized = func(r *initializeResult) {
		if r.Agent != nil {
			p.Name, p.Version = cmp.Or(r.Agent.Title, r.Agent.Name), r.Agent.Version
		}
		for _, m := range r.AuthMethods {
			method := LoginMethod{ID: m.ID, Name: m.Name, Description: m.Description}
			if m.Type == terminalMethod {
				method.Terminal, method.Args, method.Env = true, m.Args, m.Env
			}
			p.Methods = append(p.Methods, method)
		}
	}
	err = a.Start(ctx)
	_ = a.Close() // never fails
	return p, err
}

// A probeHost drops events of a probed agent.
type probeHost struct{}

var _ agent.Host = probeHost{}

func (probeHost) Emit(agent.Event) error                           { return nil }
func (probeHost) Save([]byte) error                                { return nil }
func (probeHost) SaveBlob(agent.Blob) error                        { return nil }
func (probeHost) Sync(context.Context) error                       { return nil }
func (probeHost) Blob(context.Context, string) (agent.Blob, error) { return agent.Blob{}, nil }
func (probeHost) RecordProcessGroup(agent.ProcessGroup) error      { return nil }
func (probeHost) Transcript(context.Context, int) (string, error)  { return "", nil }
func (probeHost) RecordConversation(_, _ string) error             { return nil }
func (probeHost) Logf(string, ...any)                              {}
