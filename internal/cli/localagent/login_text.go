package localagent

import (
	"cmp"
	"strings"
	"time"

	"agentctl/internal/agents"
	"agentctl/internal/output"
)

// ProbeTimeout bounds the start of one agent for a check.
const ProbeTimeout = 30 * time.Second

// NextStep returns why an agent is ready, or else the command that brings it nearer.
func NextStep(r *agents.Installation) string {
	switch ready := Readiness(r); {
	case ready == 1:
		return "agentctl agents login " + r.Agent
	case ready == 0 && r.LoginBy != "":
		return "by " + r.LoginBy
	case ready == 0:
		return "installed; its login is not known"
	case r.Agent == agents.LLM:
		return "export ANTHROPIC_API_KEY=… (or OPENAI_API_KEY, GEMINI_API_KEY)"
	}
	return cmp.Or(r.Install, r.LogIn, r.Program+" not found")
}

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
