package localagent

import (
	"strings"
	"time"

	"agentctl/internal/agents"
	"agentctl/internal/output"
)

// ProbeTimeout bounds the start of one agent for a check.
const ProbeTimeout = 30 * time.Second

// LoginText describes the login of an agent, or how to install it.
func LoginText(r *agents.Installation) string {
	how := "log in: agentctl agents login " + output.OneLine(r.Agent, 0)
	switch {
	case r.Script != "":
		return output.OneLine(r.Script, 0)
	case !r.Installed && r.Install == "":
		return output.OneLine(r.Program, 0) + " not found"
	case r.Model != "" && r.Login == agents.LoginMissing:
		return "no key: " + output.OneLine(strings.TrimPrefix(r.LogIn, "no key of a model provider: "), 0)
	case r.Pipeline != "" && r.Login == agents.LoginMissing:
		return "no login found: " + output.OneLine(r.LogIn, 0)
	case r.Pipeline != "":
		return "of " + output.OneLine(r.Pipeline, 0)
	case r.Model != "":
		return "key: " + output.OneLine(r.LoginBy, 0)
	case r.URL != "" && r.Login == agents.LoginUnknown:
		return output.OneLine(r.URL, 0) + "; login unknown: see agentctl agents --check"
	}
	switch r.Login {
	case agents.LoginReady:
		return "starts without asking for a login"
	case agents.LoginFound:
		return "login found: " + r.LoginBy
	case agents.LoginMissing:
		return "no login found: " + how
	case agents.LoginUnknown:
		return "login unknown: see agentctl agents --check; " + how
	case "":
		return r.Install
	}
	return output.OneLine(r.Login, 120)
}
