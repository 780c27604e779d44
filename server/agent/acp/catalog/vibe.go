package catalog

import "agentctl/server/sandbox"

// vibe is Mistral Vibe.
var vibe = Agent{
	Preset: Preset{
		Name: "vibe", Title: "Mistral Vibe", Command: []string{"vibe-acp"},
		Install: "uv tool install mistral-vibe", Login: "run `vibe --setup`, or set MISTRAL_API_KEY",
		LoginCommand: []string{"vibe", "--setup"}, Keys: []string{"MISTRAL_API_KEY"}, Variables: []string{"VIBE_*"},
		State: []sandbox.State{{ // as documented in 2026
			Dir: ".vibe", Moved: []string{"VIBE_HOME"}, Kept: []string{"logs/"},
			Read: []string{
				".env", "AGENTS.md", "agents", "config.toml", "hooks.toml", "prompts", "skills", "tools", "trusted_folders.toml",
			},
		}},
	},
}
