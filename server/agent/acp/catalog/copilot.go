package catalog

import "agentctl/server/sandbox"

// copilot is GitHub Copilot.
var copilot = Agent{
	Preset: Preset{
		Name: "copilot", Title: "GitHub Copilot", Command: []string{"copilot", "--acp"},
		Install: "npm install -g @github/copilot", Login: "run `copilot login`",
		LoginCommand: []string{"copilot", "login"},
		Keys:         []string{"COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"},
		Variables:    []string{"COPILOT_HOME"},
		State: []sandbox.State{{
			Dir: ".copilot", Moved: []string{"COPILOT_HOME"},
			Kept: []string{"session-state/", "history-session-state/", "logs/"},
			Read: []string{"agents", "mcp-config.json", "skills"}, Copied: []string{"config.json"},
		}},
		Decides: "starts in mode agent, where it reads all files without asking and asks before commands and edits; " +
			"in mode autopilot nothing is asked",
	},
	Reports: "Copilot", // 1.0.102
	// The usage of a result counts all turns since the start of the process (1.0.102).
	Usage: Cumulative,
	// A failure of the model is a message, and its turn ends as completed (1.0.102).
	Failure: "Error: ",
	// The request of an edit has a diff in the form of git beside the texts of its call (1.0.102).
	EditFields: map[string]EditField{"diff": isDiff},
}
