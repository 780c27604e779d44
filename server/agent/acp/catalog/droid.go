package catalog

// droid is Factory Droid.
var droid = Agent{
	Preset: Preset{
		Name: "droid", Title: "Factory Droid", Command: []string{"droid", "exec", "--output-format", "acp-daemon"},
		Install: "npm install -g droid", Login: "run `droid` once and log in, or set FACTORY_API_KEY",
		LoginCommand: []string{"droid"}, Keys: []string{"FACTORY_API_KEY"}, Variables: []string{"FACTORY_*"},
		Defaults: map[string]string{
			"DROID_DISABLE_AUTO_UPDATE": "true", "FACTORY_DROID_AUTO_UPDATE_ENABLED": "false",
		},
	},
}
