package catalog

import "agentctl/server/sandbox"

// cline is Cline.
var cline = Agent{
	Preset: Preset{
		Name: "cline", Title: "Cline", Command: []string{"cline", "--acp"},
		Install: "npm install -g cline", Login: "run `cline auth`", LoginCommand: []string{"cline", "auth"},
		Variables: []string{"CLINE_*"},
		State: []sandbox.State{ // 3.0.65
			{
				Dir: ".cline", Moved: []string{"CLINE_DIR"},
				Read: []string{"agents", "hooks", "plugins", "rules", "skills", "workflows"},
			},
			{
				// Its databases have what runs at a time: processes in sandboxes have others.
				Dir: ".cline/data", Moved: []string{"CLINE_DATA_DIR", "CLINE_DIR/data"},
				Kept:      []string{"logs/", "sandbox/", "sessions/", "teams/", "settings/providers.json"},
				Read:      []string{"settings"},
				Variables: map[string]string{"CLINE_DB_DATA_DIR": "sandbox/db"},
			},
		},
	},
}
