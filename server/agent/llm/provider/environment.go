package provider

import (
	"maps"
	"os"
	"slices"
	"strings"
)

// CommandEnvironment returns the variables of commands that a model runs, K=V: variables of the
// server and the session, without the keys of providers. An empty variable of the session removes
// one.
func (s Set) CommandEnvironment(session map[string]string) []string {
	env := map[string]string{}
	for _, kv := range os.Environ() {
		if name, value, ok := strings.Cut(kv, "="); ok && name != "" {
			env[name] = value
		}
	}
	for name, value := range session {
		if env[name] = value; value == "" {
			delete(env, name)
		}
	}
	for _, name := range s.secretVariables() {
		delete(env, name)
	}
	out := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		out = append(out, name+"="+env[name])
	}
	return out
}

// KeyVariables returns the variables that hold the keys of all providers, sorted.
func (s Set) KeyVariables() (names []string) {
	for _, p := range presets {
		names = append(names, p.KeyEnv)
	}
	for _, c := range s {
		names = append(names, c.KeyEnv)
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" })
}

// secretVariables returns the variables that hold keys or parts of headers, of all providers.
func (s Set) secretVariables() (names []string) {
	names = s.KeyVariables()
	for _, c := range s {
		for _, value := range c.Headers {
			for _, ref := range variable().FindAllStringSubmatch(value, -1) {
				names = append(names, ref[1])
			}
		}
	}
	return names
}
