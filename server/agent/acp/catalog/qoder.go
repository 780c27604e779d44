package catalog

import "agentctl/server/sandbox"

// qoder is Qoder CLI.
var qoder = Agent{
	Preset: Preset{
		Name: "qoder", Title: "Qoder CLI", Command: []string{"qodercli", "--acp"},
		Install: "npm install -g @qoder-ai/qodercli", Login: "run `qodercli` once and log in",
		LoginCommand: []string{"qodercli"}, Variables: []string{"GEMINI_CLI_HOME", "QODER_*"},
		State: []sandbox.State{{ // 1.1.52
			Dir:   ".qoder",
			Moved: []string{"QODER_CONFIG_DIR", "QODER_CLI_HOME/.qoder", "GEMINI_CLI_HOME/.qoder"},
			Kept:  []string{".auth/", "logs/", "plans/", "projects/", "sessions/", "installation_id"},
			Read: []string{
				"AGENTS.md", "agents", "commands", "keybindings.json", "mcp.json", "memory", "memory.md", "plugins", "policies",
				"settings.json", "skills",
			},
		}},
	},
}
