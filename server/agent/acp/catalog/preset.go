package catalog

import (
	"path/filepath"
	"slices"

	"agentctl/server/sandbox"
)

// A Preset is how an agent is installed, started and logged in.
type Preset struct {
	Name    string // for --agent
	Title   string
	Command []string
	Install string // installation hint for users
	Login   string // login hint for users, if known

	LoginCommand []string          // its own login, in a terminal
	LoginFiles   []string          // below the home directory; one exists after a login; nil: not known
	Keys         []string          // variables of credentials; one is enough
	Variables    []string          // other variables that it reads; "PREFIX_*": all with the prefix PREFIX_
	Defaults     map[string]string // of variables that are not set
	State        []sandbox.State   // directories of the agent's state that a sandbox shows
	Decides      string            // which calls it allows without asking
}

// modelKeys are the credentials of agents that reach several providers of models.
var modelKeys = []string{"ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY"}

// Environment lists the variables of an agent: names, and prefixes as "PREFIX_*". They include
// Keys.
func (p *Preset) Environment() []string { return slices.Concat(p.Keys, p.Variables) }

// Environment lists the variables of all presets, sorted.
func Environment() []string { return union(func(a *Agent) []string { return a.Environment() }) }

// Presets returns the presets, sorted by name.
func Presets() []Preset {
	var list []Preset
	for _, a := range agents {
		if a.Name != "" {
			list = append(list, a.Preset)
		}
	}
	return list
}

// FindPreset returns the preset with a name.
func FindPreset(name string) (Preset, bool) {
	p := find(func(a *Agent) bool { return a.Name == name }).Preset
	return p, name != "" && p.Name != ""
}

// PresetOf returns the preset that runs a program, given by its path or name.
func PresetOf(program string) (Preset, bool) {
	p := find(func(a *Agent) bool { return a.Name != "" && filepath.Base(program) == a.Command[0] }).Preset
	return p, p.Name != ""
}
