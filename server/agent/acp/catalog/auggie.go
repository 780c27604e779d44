package catalog

// auggie is Auggie.
var auggie = Agent{
	Preset: Preset{
		Name: "auggie", Title: "Auggie", Command: []string{"auggie", "--acp"},
		Install: "npm install -g @augmentcode/auggie", Login: "run `auggie login`",
		LoginCommand: []string{"auggie", "login"},
		Variables:    []string{"AUGMENT_*"}, Defaults: map[string]string{"AUGMENT_DISABLE_AUTO_UPDATE": "1"},
	},
}
