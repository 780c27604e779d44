package catalog

// vibe is Mistral Vibe.
var vibe = Agent{
	Preset: Preset{
		Name: "vibe", Title: "Mistral Vibe", Command: []string{"vibe-acp"},
		Install: "uv tool install mistral-vibe", Login: "run `vibe --setup`, or set MISTRAL_API_KEY",
		LoginCommand: []string{"vibe", "--setup"}, Keys: []string{"MISTRAL_API_KEY"}, Variables: []string{"VIBE_*"},
	},
}
