package main

import (
	"fmt"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/server/agent/acp"
	"agentctl/server/agent/script"
	"agentctl/server/session"
)

// schemeScript begins the name of an ad hoc script: "script:FILE".
const schemeScript = "script:"

// A roster knows the agents that sessions may have: those of the configuration, presets, and ad hoc commands. It is constant.
type roster struct {
	configured map[string]agentConfig
	fallback   string // of a session that names none
}

var _ session.Agents = (*roster)(nil)

// Open makes the agent that a session names.
func (r *roster) Open(spec session.Spec, host session.Host) (session.Agent, error) {
	name := spec.Agent
	if name == "" {
		name = r.fallback
	}
	if name == "" {
		return nil, protocol.Errorf(protocol.CodeNoAgent, "name an agent: the server has no default one")
	}
	if c, ok := r.configured[name]; ok {
		if c.Script != "" {
			return openScript(c.Script, spec, host)
		}
		return acp.New(acp.Config{Name: name, Command: append([]string{c.Command}, c.Args...), Env: c.Env}, spec, host)
	}
	if file, ok := strings.CutPrefix(name, schemeScript); ok {
		return openScript(file, spec, host)
	}
	c, err := acp.Find(name)
	if err != nil {
		return nil, err
	}
	return acp.New(c, spec, host)
}

// check returns why no session could have an agent of that name; whether it can be started shows when one has it.
func (r *roster) check(name string) error {
	if _, ok := r.configured[name]; ok || strings.HasPrefix(name, schemeScript) {
		return nil
	}
	if _, err := acp.Find(name); err != nil {
		return fmt.Errorf("%w: there are %s; acp:COMMAND and script:FILE name others", err, strings.Join(r.Names(), ", "))
	}
	return nil
}

func openScript(file string, spec session.Spec, host session.Host) (session.Agent, error) {
	s, err := script.Load(file)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeNoAgent, "%s", err)
	}
	return s.Open(spec, host)
}

// Names lists the configured agents, then the presets.
func (r *roster) Names() []string {
	var names []string
	for name := range r.configured {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, p := range acp.Presets() {
		if _, ok := r.configured[p.Name]; !ok {
			names = append(names, p.Name)
		}
	}
	return names
}
