package catalog

import "agentctl/server/sandbox"

// opencode is OpenCode.
var opencode = Agent{
	Preset: Preset{
		Name: "opencode", Title: "OpenCode", Command: []string{"opencode", "acp"},
		Install: "npm install -g opencode-ai", Login: "run `opencode auth login`",
		LoginCommand: []string{"opencode", "auth", "login"},
		LoginFiles:   []string{".local/share/opencode/auth.json"}, Keys: modelKeys,
		State:     openCodeState("opencode", "OPENCODE_DB"), // 1.18.33
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

// openCodeState returns the state of OpenCode, or of an agent that was made from it. Its database has
// conversations, but also rules of what is allowed, logins, and for each project a command that runs
// when a worktree is made: processes in sandboxes have another one, which db names.
func openCodeState(name, db string) []sandbox.State {
	return []sandbox.State{
		{
			Dir: ".local/share/" + name, Moved: []string{"XDG_DATA_HOME/" + name},
			Kept:      []string{"log/", "sandbox/", "snapshot/", "storage/", "auth.json"},
			Variables: map[string]string{db: "sandbox/" + name + ".db"},
		},
		{Dir: ".local/state/" + name, Moved: []string{"XDG_STATE_HOME/" + name}},
		{
			Dir: ".config/" + name, Moved: []string{"XDG_CONFIG_HOME/" + name},
			Read: []string{
				"AGENTS.md", name + ".json", name + ".jsonc", "opencode.json", "opencode.jsonc", "config.json", "agent",
				"command", "plugin", "skills",
			},
		},
	}
}
