package agent

import (
	"time"

	"agentctl/server/policy"
)

// A Spec describes a session's agent. It is stored, and never sent to clients.
type Spec struct {
	Session string            `json:"-"`
	Agent   string            `json:"agent"` // configured name, preset, "acp:COMMAND ARG…", "script:FILE"
	CWD     string            `json:"cwd,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	State   []byte            `json:"state,omitempty"` // as last saved by the agent
	Title   string            `json:"title,omitempty"` // as last given by the agent

	SealedEnv []byte `json:"sealed_env,omitempty"` // Env in the store; else of an environment without its key

	policy.Choice // what decides about requests in place of users

	OwnDirectories []string `json:"-"` // Config.OwnDirectories

	Settings map[string]string `json:"settings,omitempty"` // to be applied before the first turn
	Load     string            `json:"load,omitempty"`     // the agent's own id of a session to continue
	Lazy     bool              `json:"lazy,omitempty"`     // the agent starts with the first message
	Checking bool              `json:"checking,omitempty"` // the session exists only if its agent starts
	Parent   string            `json:"parent,omitempty"`   // the session whose agent created this one
	Imported bool              `json:"imported,omitempty"` // the agent has yet to get the imported past
	IdleEnd  *time.Time        `json:"idle_end,omitempty"` // when the agent was ended for idleness; nil: it was not
}
