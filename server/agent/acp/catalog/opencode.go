package catalog

import "agentctl/server/sandbox"

// opencode is OpenCode.
var opencode = Agent{
	Preset: Preset{
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
	Reports: "OpenCode", // 1.18.33
	// The usage of a result counts the last request of the turn to the model (1.18.33).
	Usage: PerTurn,
	// The call of an edit and its request name the file in different ways, and the request has a diff
	// (1.18.33).
	EditFields: map[string]EditField{
		"diff": isDiff, "filePath": isPath, "filepath": isPath, "path": isPath,
		"oldString": isReplacement("oldString", "newString"), "newString": isReplacement("oldString", "newString"),
		"replaceAll": isReplaceAll("oldString", "newString"),
	},
	ReadTools: []string{"grep", "list", "read"},
}
