package acp

import (
	"context"
	"errors"
	"slices"
	"strings"

	"agentctl/server/agent/acp/rpc"
)

// authMethod is a way to log in that the agent offers.
type authMethod struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Type        string `json:"type"` // "env_var" needs nobody: a key is in the environment
	Vars        []struct {
		Name     string `json:"name"`
		Optional bool   `json:"optional"`
	} `json:"vars"`
}

type authenticateParams struct {
	Method string `json:"methodId"`
}

// keyVariables are ways to log in that agents are known to offer without saying which variable holds the key.
var keyVariables = map[string]string{
	"gemini-api-key": "GEMINI_API_KEY",
	"openai-api-key": "OPENAI_API_KEY",
	"codex-api-key":  "CODEX_API_KEY",
}

// wantsLogin reports whether the agent refused for want of a login.
func wantsLogin(err error) bool {
	var e *rpc.Error
	return errors.As(err, &e) && e.Code == codeAuthRequired
}

// authenticate logs in by a key that is in the agent's environment, if there is one that the agent takes. It never uses a way that
// would need a person: nobody sits at the server.
func (c *client) authenticate(ctx context.Context, env []string) bool {
	has := func(name string) bool {
		return slices.ContainsFunc(env, func(kv string) bool {
			v, ok := strings.CutPrefix(kv, name+"=")
			return ok && v != ""
		})
	}
	for _, m := range c.agentInfo.AuthMethods {
		if !m.keyAvailable(has) {
			continue
		}
		if _, err := c.conn.Call(ctx, "authenticate", authenticateParams{m.ID}); err != nil {
			c.host.Logf("log in to %s by %s: %v", c.config.Name, m.ID, err)
			continue
		}
		return true
	}
	return false
}

// keyAvailable reports whether all that the method needs is in the environment.
func (m *authMethod) keyAvailable(has func(string) bool) bool {
	if name, known := keyVariables[m.ID]; known {
		return has(name)
	}
	if m.Type != "env_var" || len(m.Vars) == 0 {
		return false
	}
	for _, v := range m.Vars {
		if !v.Optional && !has(v.Name) {
			return false
		}
	}
	return true
}

// loginHint says in words what a person has to do.
func (c *client) loginHint() string {
	if c.config.Login != "" {
		return c.config.Login + ", on the machine of the server"
	}
	var ways []string
	for _, m := range c.agentInfo.AuthMethods {
		if m.Description != "" {
			ways = append(ways, m.Name+" ("+m.Description+")")
		} else {
			ways = append(ways, m.Name)
		}
	}
	if len(ways) == 0 {
		return "log in to it on the machine of the server"
	}
	return "on the machine of the server, " + strings.Join(ways, ", or ")
}
