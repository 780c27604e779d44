package catalog

import "agentctl/server/sandbox"

// auggie is Auggie.
var auggie = Agent{
	Preset: Preset{
		Name: "auggie", Title: "Auggie", Command: []string{"auggie", "--acp"},
		Install: "npm install -g @augmentcode/auggie", Login: "run `auggie login`",
		LoginCommand: []string{"auggie", "login"},
		Variables:    []string{"AUGMENT_*"}, Defaults: map[string]string{"AUGMENT_DISABLE_AUTO_UPDATE": "1"},
		State: []sandbox.State{{ // 0.36.0
			Dir: ".augment", Kept: []string{"plans/", "sessions/", "uploads/", "session.json"},
			Read: []string{
				"agents", "commands", "disabled-skills.json", "feature-config.json", "plugins", "rules", "settings.json", "skills",
				"user-guidelines.md",
			},
			Copied: []string{".auggie.json"},
		}},
	},
}
