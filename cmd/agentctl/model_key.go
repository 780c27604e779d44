package main

import (
	"fmt"
	"io"
	"os/exec"
	"strings"

	"agentctl/internal/agents"
	"agentctl/internal/exit"
	"agentctl/protocol"
)

// modelKeyHint says how a model gets its key. The error names the variable.
const modelKeyHint = "export the key here and run this again; a variable that agentctl does not know is passed with " +
	`--env or "pass_env"; or set "key_env" or "key_command" of the provider in server.json`

// withKeyHint returns err with modelKeyHint if an agent that requests a model itself has no key:
// such an agent has no login.
func (a *app) withKeyHint(err error, agent string, own bool) error {
	if protocol.CodeOf(err) != protocol.CodeAgentAuth || !a.isModel(agent, own) {
		return err
	}
	e := *exit.From(err)
	return e.WithHint("%s", modelKeyHint)
}

// isModel reports whether an agent requests a model itself. That of another server is known by its
// name only.
func (a *app) isModel(agent string, own bool) bool {
	if agent == agents.LLM || strings.HasPrefix(agent, agents.LLMScheme) {
		return true
	}
	registry, err := a.registry()
	return own && err == nil && registry.Configured[agent].Model != ""
}

// modelLogin reports whether a model has its key. There is nothing to log in to.
func (o *agentLoginOptions) modelLogin(registry *agents.Registry) error {
	r := o.app.inspector(registry, exec.LookPath).Inspect(o.Agent)
	if r.Login == agents.LoginMissing {
		return exit.Unsupportedf("%s requests a model itself and has no login: %s", o.Agent, r.LogIn).
			WithHint("%s", modelKeyHint)
	}
	result := struct {
		Agent    string `json:"agent"`
		LoggedIn bool   `json:"logged_in"`
		Key      string `json:"key"`
	}{o.Agent, true, r.LoginBy}
	return o.app.print(result, func(w io.Writer) { fmt.Fprintf(w, "no login is needed: key: %s\n", r.LoginBy) })
}
