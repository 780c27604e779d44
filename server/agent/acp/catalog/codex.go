package catalog

import (
	"encoding/json"
	"slices"

	"agentctl/server/sandbox"
)

// codex is Codex.
var codex = Agent{
	Preset: Preset{
		Name: "codex", Title: "Codex", Command: []string{"codex-acp"},
		Install:      "npm install -g @agentclientprotocol/codex-acp",
		Login:        "run `codex login`, or set OPENAI_API_KEY",
		LoginCommand: []string{"codex", "login"}, LoginFiles: []string{".codex/auth.json"},
		Keys: []string{"OPENAI_API_KEY", "CODEX_API_KEY"},
		State: []sandbox.State{
			{
				Dir: ".codex", Moved: []string{"CODEX_HOME"},
				Kept: []string{"sessions/", "archived_sessions/", "log/", "auth.json", "history.jsonl"},
				Read: []string{"AGENTS.md", "config.toml", "plugins", "prompts", "rules", "skills"},
			},
			{Moved: []string{"CODEX_SQLITE_HOME"}},
		},
		Variables: []string{
			"CODEX_HOME", "CODEX_SQLITE_HOME", "INITIAL_AGENT_MODE", "MODEL_PROVIDER", "OPENAI_BASE_URL",
		},
		// In its own default mode, agent, a reviewing model decides requests instead of a user.
		Defaults: map[string]string{"INITIAL_AGENT_MODE": "read-only"},
		Decides: "starts in mode read-only, where it reads all files and runs commands in a sandbox without " +
			"writing and network, and asks before edits; in mode agent it edits the directory without asking " +
			"and its own model decides the rest, in agent-full-access nothing is asked",
	},
	Reports: "@agentclientprotocol/codex-acp", // 2.6.0
	// The usage of a result counts the turn, cached tokens separately (2.6.0).
	Usage: PerTurn,
	// The names of its login methods are not variables, and the methods have no list of them (2.6.0).
	LoginKeys: map[string]string{"codex-api-key": "CODEX_API_KEY", "openai-api-key": "OPENAI_API_KEY"},
}

// codexMeta is the _meta of Codex's updates (2.6.0).
type codexMeta struct {
	Codex struct {
		Thread struct {
			Type string `json:"type"`
		} `json:"threadStatus"`
	} `json:"codex"`
}

// ModelFailed reports whether the update reports a failure of the model. Codex ends the turn of a
// failed model as completed.
func (m *codexMeta) ModelFailed() bool { return m.Codex.Thread.Type == "systemError" }

// Active returns whether the agent works, in a prompt or not, if the update reports a change of that
// (2.6.0).
func (m *codexMeta) Active() (active, reported bool) {
	switch m.Codex.Thread.Type {
	case "active":
		return true, true
	case "idle", "systemError":
		return false, true
	}
	return false, false
}

// codexField is the _meta of a field of Codex's forms (2.6.0).
type codexField struct {
	Codex struct {
		IsSecret bool   `json:"isSecret"`
		Question string `json:"questionId"` // with the role user_note
		Role     string `json:"role"`
	} `json:"codex"`
}

// noteOf returns the question that the field takes another answer to, or "".
func (m *codexField) noteOf() string {
	if m.Codex.Role != "user_note" {
		return ""
	}
	return m.Codex.Question
}

// codexLimit: the data of the error has the error of Codex (2.6.0). Its end is only in the message, in
// the time zone of the agent.
func codexLimit(f *Failure) bool {
	var data struct{ CodexErrorInfo any }
	_ = json.Unmarshal(f.Data, &data)
	name, _ := data.CodexErrorInfo.(string)
	return slices.Contains([]string{"usageLimitExceeded", "rateLimitExceeded"}, name)
}
