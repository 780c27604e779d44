package catalog

// cursor is Cursor.
var cursor = Agent{
	Preset: Preset{
		Name: "cursor", Title: "Cursor", Command: []string{"cursor-agent", "acp"},
		Install: "see https://cursor.com/docs/cli", Login: "run `cursor-agent login`, or set CURSOR_API_KEY",
		// No State: neither its package nor its documents say where conversations are.
		LoginCommand: []string{"cursor-agent", "login"}, Keys: []string{"CURSOR_API_KEY"},
	},
}
