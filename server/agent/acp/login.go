package acp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"agentctl/protocol"
	"agentctl/server/agent/acp/catalog"
	"agentctl/server/agent/acp/rpc"
)

// authMethod is a login method of the agent.
type authMethod struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Type        string `json:"type"` // "env_var": keys in the environment; "terminal": the program of the agent
	Vars        []struct {
		Name     string `json:"name"`
		Optional bool   `json:"optional"`
	} `json:"vars"`
	Args []string  `json:"args"` // of a terminal: added to the program's
	Env  variables `json:"env"`  // of a terminal
}

// variables are an object in version 1, and a list of names and values in version 2.
type variables map[string]string

// UnmarshalJSON implements json.Unmarshaler.
func (v *variables) UnmarshalJSON(b []byte) error {
	var list []mcpValue
	if json.Unmarshal(b, &list) != nil {
		return json.Unmarshal(b, (*map[string]string)(v))
	}
	*v = variables{}
	for _, one := range list {
		(*v)[one.Name] = one.Value
	}
	return nil
}

// terminalMethod is the type of a login in a terminal, which is never passed to authenticate.
const terminalMethod = "terminal"

type authenticateParams struct {
	Method string `json:"methodId"`
}

// wantsLogin reports whether the agent refused a request because a login is required.
func wantsLogin(err error) bool {
	e, ok := errors.AsType[*rpc.Error](err)
	return ok && e.Code == codeAuthRequired
}

// loginNeeded returns the error of an agent that requires a login, with the remedy.
func (c *client) loginNeeded() error {
	return protocol.Errorf(protocol.CodeAgentAuth, "%s needs a login: %s", c.config.Name, c.agentInfo.loginHint(c.config.Login))
}

// authenticate logs in with a key from the environment of the agent and reports success. It never
// uses an interactive method: no user is at the server.
func (c *client) authenticate(ctx context.Context, env []string) bool {
	lookup := lookupIn(env)
	for _, m := range c.agentInfo.AuthMethods {
		if !m.keyAvailable(lookup) {
			continue
		}
		if err := c.call(ctx, "authenticate", authenticateParams{m.ID}, nil); err != nil {
			c.host.Logf("log in to %s by %s: %v", c.config.Name, m.ID, err)
			continue
		}
		return true
	}
	return false
}

// keyAvailable reports whether the environment has all keys of the method.
func (m *authMethod) keyAvailable(lookup func(name string) string) bool {
	if m.Type == terminalMethod {
		return false
	}
	if name, ok := catalog.LoginKey(m.ID); ok {
		return lookup(name) != ""
	}
	if m.Type != "env_var" || len(m.Vars) == 0 {
		return false
	}
	for _, v := range m.Vars {
		if !v.Optional && lookup(v.Name) == "" {
			return false
		}
	}
	return true
}

// loginHint describes the login for users; configured is the way that the configuration names.
func (r *initializeResult) loginHint(configured string) string {
	const key = "; or pass a key from your shell: agentctl new --env NAME=VALUE, or pass_env in your configuration"
	if configured != "" {
		return configured + ", on the server machine" + key
	}
	var ways []string
	for _, m := range r.AuthMethods {
		way := m.Name
		if m.Description != "" {
			way += " (" + m.Description + ")"
		}
		ways = append(ways, way)
	}
	if len(ways) == 0 {
		return "log in on the server machine" + key
	}
	return "on the server machine, " + strings.Join(ways, ", or ") + key
}
