package acp

import (
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/shell"

	"agentctl/protocol"
	"agentctl/server/sandbox"
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

	LoginCommand []string          // its own login, in a terminal
	LoginFiles   []string          // below the home directory; one exists after a login; nil: not known
	Keys         []string          // variables of credentials; one is enough
	Variables    []string          // other variables that it reads; "PREFIX_*": all with the prefix PREFIX_
	Defaults     map[string]string // of variables that are not set
	State        []sandbox.State   // directories of its own state that a sandbox shows
	Decides      string            // which calls it allows without asking
}

// modelKeys are the credentials of agents that reach several providers of models.
var modelKeys = []string{"ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY"}

// presets is sorted by name.
var presets = []Preset{
	{
		Name: "auggie", Title: "Auggie", Command: []string{"auggie", "--acp"},
		Install: "npm install -g @augmentcode/auggie", Login: "run `auggie login`",
		LoginCommand: []string{"auggie", "login"},
		Variables:    []string{"AUGMENT_*"}, Defaults: map[string]string{"AUGMENT_DISABLE_AUTO_UPDATE": "1"},
	},
	{
		Name: "claude", Title: "Claude Code", Command: []string{"claude-agent-acp"},
		Install:      "npm install -g @agentclientprotocol/claude-agent-acp",
		Login:        "run `claude /login`, or set ANTHROPIC_API_KEY",
		LoginCommand: []string{"claude", "/login"}, LoginFiles: []string{".claude/.credentials.json"},
		Keys:      []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"},
		Variables: []string{"ANTHROPIC_*", "CLAUDE_CODE_*"},
		State: []sandbox.State{
			{
				Dir: ".claude", Kept: []string{
					"projects/", "sessions/", "todos/", "tasks/", "plans/", "file-history/", ".credentials.json", "history.jsonl",
				},
				Read: []string{
					"CLAUDE.md", "settings.json", "settings.local.json", "agents", "commands", "output-styles", "plugins",
					"rules", "skills",
				},
			},
			{Copied: []string{".claude.json"}},
		},
		Decides: "starts in mode default, where it reads files of the directory and runs commands that it " +
			"takes for harmless without asking; it asks before other commands, files elsewhere, edits and the web",
	},
	{
		Name: "cline", Title: "Cline", Command: []string{"cline", "--acp"},
		Install: "npm install -g cline", Login: "run `cline auth`", LoginCommand: []string{"cline", "auth"},
		Variables: []string{"CLINE_*"},
	},
	{
		Name: "codex", Title: "Codex", Command: []string{"codex-acp"},
		Install:      "npm install -g @agentclientprotocol/codex-acp",
		Login:        "run `codex login`, or set OPENAI_API_KEY",
		LoginCommand: []string{"codex", "login"}, LoginFiles: []string{".codex/auth.json"},
		Keys: []string{"OPENAI_API_KEY", "CODEX_API_KEY"},
		State: []sandbox.State{{
			Dir:  ".codex",
			Kept: []string{"sessions/", "archived_sessions/", "log/", "auth.json", "history.jsonl"},
			Read: []string{"AGENTS.md", "config.toml", "plugins", "prompts", "rules", "skills"},
		}},
		Variables: []string{"CODEX_HOME", "INITIAL_AGENT_MODE", "MODEL_PROVIDER", "OPENAI_BASE_URL"},
		// In its own default mode, agent, a reviewing model decides requests instead of a user.
		Defaults: map[string]string{"INITIAL_AGENT_MODE": "read-only"},
		Decides: "starts in mode read-only, where it reads all files and runs commands in a sandbox without " +
			"writing and network, and asks before edits; in mode agent it edits the directory without asking " +
			"and its own model decides the rest, in agent-full-access nothing is asked",
	},
	{
		Name: "copilot", Title: "GitHub Copilot", Command: []string{"copilot", "--acp"},
		Install: "npm install -g @github/copilot", Login: "run `copilot login`",
		LoginCommand: []string{"copilot", "login"},
		Keys:         []string{"COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"},
		State: []sandbox.State{{
			Dir: ".copilot", Kept: []string{"session-state/", "history-session-state/", "logs/"},
			Read: []string{"agents", "mcp-config.json", "skills"}, Copied: []string{"config.json"},
		}},
		Decides: "starts in mode agent, where it reads all files without asking and asks before commands and edits; " +
			"in mode autopilot nothing is asked",
	},
	{
		Name: "cursor", Title: "Cursor", Command: []string{"cursor-agent", "acp"},
		Install: "see https://cursor.com/docs/cli", Login: "run `cursor-agent login`, or set CURSOR_API_KEY",
		LoginCommand: []string{"cursor-agent", "login"}, Keys: []string{"CURSOR_API_KEY"},
	},
	{
		Name: "droid", Title: "Factory Droid", Command: []string{"droid", "exec", "--output-format", "acp-daemon"},
		Install: "npm install -g droid", Login: "run `droid` once and log in, or set FACTORY_API_KEY",
		LoginCommand: []string{"droid"}, Keys: []string{"FACTORY_API_KEY"}, Variables: []string{"FACTORY_*"},
		Defaults: map[string]string{
			"DROID_DISABLE_AUTO_UPDATE": "true", "FACTORY_DROID_AUTO_UPDATE_ENABLED": "false",
		},
	},
	{
		Name: "gemini", Title: "Gemini CLI", Command: []string{"gemini", "--acp"},
		Install:      "npm install -g @google/gemini-cli",
		Login:        "run `gemini` once and choose how to log in, or set GEMINI_API_KEY",
		LoginCommand: []string{"gemini"}, LoginFiles: []string{".gemini/oauth_creds.json"},
		Keys: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"},
		State: []sandbox.State{{
			Dir: ".gemini", Kept: []string{"tmp/", "history/", "oauth_creds.json", "google_accounts.json", "installation_id"},
			Read: []string{"GEMINI.md", "agents", "commands", "extensions", "policies", "settings.json", "trustedFolders.json"},
		}},
		Variables: []string{
			"GEMINI_*", "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_LOCATION", "GOOGLE_CLOUD_PROJECT",
			"GOOGLE_GEMINI_BASE_URL", "GOOGLE_GENAI_USE_VERTEXAI",
		},
		Decides: "starts in mode default, where it reads and lists files of the directory without asking and " +
			"asks before commands, edits and the web; its tools for files refuse other directories",
	},
	{
		Name: "goose", Title: "Goose", Command: []string{"goose", "acp"},
		Install: "see https://block.github.io/goose", Login: "run `goose configure`",
		LoginCommand: []string{"goose", "configure"}, Keys: modelKeys, Variables: []string{"GOOSE_*"},
	},
	{
		Name: "kilo", Title: "Kilo", Command: []string{"kilo", "acp"},
		Install: "npm install -g @kilocode/cli", Login: "run `kilo auth login`",
		LoginCommand: []string{"kilo", "auth", "login"}, Keys: modelKeys, Variables: []string{"KILO_*"},
	},
	{
		Name: "opencode", Title: "OpenCode", Command: []string{"opencode", "acp"},
		Install: "npm install -g opencode-ai", Login: "run `opencode auth login`",
		LoginCommand: []string{"opencode", "auth", "login"},
		LoginFiles:   []string{".local/share/opencode/auth.json"}, Keys: modelKeys,
		State: []sandbox.State{
			{
				// Its database has conversations, but also rules of what is allowed and commands that start
				// with a project: processes in sandboxes have another one.
				Dir: ".local/share/opencode", Kept: []string{"log/", "sandbox/", "snapshot/", "storage/", "auth.json"},
				Variables: map[string]string{"OPENCODE_DB": "sandbox/opencode.db"},
			},
			{Dir: ".local/state/opencode"},
			{Dir: ".config/opencode", Read: []string{
				"AGENTS.md", "opencode.json", "opencode.jsonc", "agent", "command", "plugin", "skills",
			}},
		},
		Variables: []string{"OPENCODE_*"},
		Decides: "starts in mode build, where it runs commands, edits the directory and reads the web without " +
			"asking, and asks before files elsewhere; rules under \"permission\" of its configuration make it ask",
	},
	{
		Name: "qoder", Title: "Qoder CLI", Command: []string{"qodercli", "--acp"},
		Install: "npm install -g @qoder-ai/qodercli", Login: "run `qodercli` once and log in",
		LoginCommand: []string{"qodercli"}, Variables: []string{"QODER_*"},
	},
	{
		// In its own default mode, auto, a reviewing model decides requests instead of a user.
		Name: "qwen", Title: "Qwen Code", Command: []string{"qwen", "--acp", "--approval-mode", "default"},
		Install: "npm install -g @qwen-code/qwen-code", Login: "run `qwen` once and choose how to log in",
		LoginCommand: []string{"qwen"}, LoginFiles: []string{".qwen/oauth_creds.json"},
		State: []sandbox.State{{
			Dir: ".qwen", Kept: []string{"tmp/", "projects/", "oauth_creds.json", "installation_id"},
			Read: []string{"QWEN.md", "agents", "commands", "extensions", "settings.json", "skills", "trustedFolders.json"},
		}},
		Keys: []string{"OPENAI_API_KEY"}, Variables: []string{"OPENAI_BASE_URL", "OPENAI_MODEL", "QWEN_*"},
		Decides: "starts in mode default, where it reads files of the directory and runs commands that it takes " +
			"for harmless without asking, and asks before the rest; in mode auto it also edits the directory and " +
			"reads all files without asking, and its own model decides the rest",
	},
	{
		Name: "vibe", Title: "Mistral Vibe", Command: []string{"vibe-acp"},
		Install: "uv tool install mistral-vibe", Login: "run `vibe --setup`, or set MISTRAL_API_KEY",
		LoginCommand: []string{"vibe", "--setup"}, Keys: []string{"MISTRAL_API_KEY"}, Variables: []string{"VIBE_*"},
	},
}

// Environment lists the variables of an agent: names, and prefixes as "PREFIX_*". They include
// Keys.
func (p *Preset) Environment() []string { return slices.Concat(p.Keys, p.Variables) }

// Environment lists the variables of all presets, sorted.
func Environment() []string {
	var all []string
	for i := range presets {
		all = append(all, presets[i].Environment()...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Presets returns the known agents, sorted by name.
func Presets() []Preset { return slices.Clone(presets) }

// FindPreset returns the preset with the agent's name, or the preset whose program "acp:COMMAND
// ARG…" runs.
func FindPreset(agent string) (Preset, bool) {
	if line, ok := strings.CutPrefix(agent, Scheme); ok {
		words, err := shell.Fields(line, nil)
		if err != nil || len(words) == 0 {
			return Preset{}, false
		}
		return PresetOf(words[0])
	}
	for _, p := range presets {
		if agent == p.Name {
			return p, true
		}
	}
	return Preset{}, false
}

// PresetOf returns the preset that runs a program, given by its path or name.
func PresetOf(program string) (Preset, bool) {
	for _, p := range presets {
		if filepath.Base(program) == p.Command[0] {
			return p, true
		}
	}
	return Preset{}, false
}

// Find returns the configuration of a preset or of "acp:COMMAND ARG…", with arguments quoted as in
// a shell. The error for an unknown name has the code no_agent.
func Find(name string) (Config, error) {
	if line, ok := strings.CutPrefix(name, Scheme); ok {
		words, err := shell.Fields(line, nil)
		if err != nil || len(words) == 0 {
			return Config{}, protocol.Errorf(protocol.CodeNoAgent,
				"%q is not a command: write %sCOMMAND ARG…", name, Scheme)
		}
		p, _ := FindPreset(name)
		return Config{Name: words[0], Command: words, Install: p.Install, Defaults: p.Defaults}, nil
	}
	for _, p := range presets {
		if p.Name == name {
			return Config{
				Name: p.Title, Command: p.Command, Install: p.Install, Login: p.Login, Defaults: p.Defaults,
			}, nil
		}
	}
	return Config{}, protocol.Errorf(protocol.CodeNoAgent, "no agent is called %q", name)
}
