package acp

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/shell"

	"agentctl/protocol"
)

// Scheme is the prefix of an agent given as a command: "acp:COMMAND ARG…".
const Scheme = "acp:"

// A Preset is a known agent.
type Preset struct {
	Name    string // for --agent
	Title   string
	Command []string
	Install string // installation hint for users
	Login   string // login hint for users, if known
}

// presets is sorted by name.
var presets = []Preset{
	{
		Name: "claude", Title: "Claude Code", Command: []string{"claude-agent-acp"},
		Install: "npm install -g @agentclientprotocol/claude-agent-acp",
		Login:   "run `claude /login`, or set ANTHROPIC_API_KEY",
	},
	{
		Name: "codex", Title: "Codex", Command: []string{"codex-acp"},
		Install: "npm install -g @agentclientprotocol/codex-acp", Login: "run `codex login`, or set OPENAI_API_KEY",
	},
	{
		Name: "copilot", Title: "GitHub Copilot", Command: []string{"copilot", "--acp"},
		Install: "npm install -g @github/copilot", Login: "run `copilot` and type /login",
	},
	{
		Name: "gemini", Title: "Gemini CLI", Command: []string{"gemini", "--acp"},
		Install: "npm install -g @google/gemini-cli",
		Login:   "run `gemini` once and choose how to log in, or set GEMINI_API_KEY",
	},
	{
		Name: "goose", Title: "Goose", Command: []string{"goose", "acp"},
		Install: "see the project's own instructions", Login: "run `goose configure`",
	},
	{
		Name: "opencode", Title: "OpenCode", Command: []string{"opencode", "acp"},
		Install: "npm install -g opencode-ai", Login: "run `opencode auth login`",
	},
	{
		Name: "qwen", Title: "Qwen Code", Command: []string{"qwen", "--acp"},
		Install: "npm install -g @qwen-code/qwen-code", Login: "run `qwen` once and choose how to log in",
	},
}

// Presets returns the known agents, sorted by name.
func Presets() []Preset { return slices.Clone(presets) }

// Find returns the configuration of a preset or of "acp:COMMAND ARG…", with arguments quoted as in
// a shell. The error for an unknown name has the code no_agent.
func Find(name string) (Config, error) {
	if line, ok := strings.CutPrefix(name, Scheme); ok {
		words, err := shell.Fields(line, nil)
		if err != nil || len(words) == 0 {
			return Config{}, protocol.Errorf(protocol.CodeNoAgent,
				"%q is not a command: write %sCOMMAND ARG…", name, Scheme)
		}
		return Config{Name: words[0], Command: words}, nil
	}
	for _, p := range presets {
		if p.Name == name {
			return Config{Name: p.Title, Command: p.Command, Install: p.Install, Login: p.Login}, nil
		}
	}
	return Config{}, protocol.Errorf(protocol.CodeNoAgent, "no agent is called %q", name)
}
