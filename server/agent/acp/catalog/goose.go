package catalog

// goose is Goose.
var goose = Agent{
	Preset: Preset{
		Name: "goose", Title: "Goose", Command: []string{"goose", "acp"},
		Install: "see https://block.github.io/goose", Login: "run `goose configure`",
		LoginCommand: []string{"goose", "configure"}, Keys: modelKeys, Variables: []string{"GOOSE_*"},
	},
}
