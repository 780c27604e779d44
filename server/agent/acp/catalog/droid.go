package catalog

import "agentctl/server/sandbox"

// droid is Factory Droid.
var droid = Agent{
	Preset: Preset{
		Name: "droid", Title: "Factory Droid", Command: []string{"droid", "exec", "--output-format", "acp-daemon"},
		Install: "npm install -g droid", Login: "run `droid` once and log in, or set FACTORY_API_KEY",
		LoginCommand: []string{"droid"}, Keys: []string{"FACTORY_API_KEY"}, Variables: []string{"FACTORY_*"},
		State: []sandbox.State{{ // 0.215.0
			Dir: ".factory", Moved: []string{"FACTORY_HOME_OVERRIDE/.factory"},
			Kept: []string{
				"artifacts/", "logs/", "missions/", "sessions/", "snapshots/", "auth.json", "auth.v2.file", "auth.v2.key",
				"history.json",
			},
			Read: []string{
				"AGENTS.md", "bin", "commands", "config.json", "droids", "hooks", "mcp.json", "plugins", "settings.json", "skills",
			},
		}},
		Defaults: map[string]string{
			"DROID_DISABLE_AUTO_UPDATE": "true", "FACTORY_DROID_AUTO_UPDATE_ENABLED": "false",
		},
	},
}
