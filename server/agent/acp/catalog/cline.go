package catalog

// cline is Cline.
var cline = Agent{
	Preset: Preset{
		Name: "cline", Title: "Cline", Command: []string{"cline", "--acp"},
		Install: "npm install -g cline", Login: "run `cline auth`", LoginCommand: []string{"cline", "auth"},
		Variables: []string{"CLINE_*"},
	},
}
