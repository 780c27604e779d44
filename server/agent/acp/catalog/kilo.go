package catalog

// kilo is Kilo.
var kilo = Agent{
	Preset: Preset{
		Name: "kilo", Title: "Kilo", Command: []string{"kilo", "acp"},
		Install: "npm install -g @kilocode/cli", Login: "run `kilo auth login`",
		LoginCommand: []string{"kilo", "auth", "login"}, Keys: modelKeys, Variables: []string{"KILO_*"},
		State: openCodeState("kilo", "KILO_DB"), // 7.7.9
	},
}
