package catalog

import "agentctl/server/sandbox"

// goose is Goose.
var goose = Agent{
	Preset: Preset{
		Name: "goose", Title: "Goose", Command: []string{"goose", "acp"},
		Install: "see https://block.github.io/goose", Login: "run `goose configure`",
		LoginCommand: []string{"goose", "configure"}, Keys: modelKeys, Variables: []string{"GOOSE_*"},
		State: []sandbox.State{ // as documented in 2026
			{
				Dir: ".config/goose", Moved: []string{"GOOSE_PATH_ROOT/config", "XDG_CONFIG_HOME/goose"},
				Read: []string{
					".goosehints", "config.yaml", "permission.yaml", "prompts", "recipes", "secrets.yaml", "skills",
				},
			},
			{
				Dir: ".local/share/goose", Moved: []string{"GOOSE_PATH_ROOT/data", "XDG_DATA_HOME/goose"},
				Kept: []string{"sessions/"},
			},
			{
				Dir: ".local/state/goose", Moved: []string{"GOOSE_PATH_ROOT/state", "XDG_STATE_HOME/goose"},
				Kept: []string{"logs/"},
			},
		},
	},
}
