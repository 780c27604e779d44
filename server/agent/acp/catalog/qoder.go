package catalog

// qoder is Qoder CLI.
var qoder = Agent{
	Preset: Preset{
		Name: "qoder", Title: "Qoder CLI", Command: []string{"qodercli", "--acp"},
		Install: "npm install -g @qoder-ai/qodercli", Login: "run `qodercli` once and log in",
		LoginCommand: []string{"qodercli"}, Variables: []string{"QODER_*"},
	},
}
