package main

import (
	"os"
	"slices"
	"strings"

	"agentctl/internal/agents"
	"agentctl/server/agent/acp"
)

// minSecret is the length of the shortest value that the log of --wire hides, in bytes.
const minSecret = 8

// shellEnvironment returns the variables that a session of an agent gets from the user's shell on
// the user's own server. A variable that the shell lacks is empty, which removes that of the
// server: it may be older.
func (a *app) shellEnvironment(agent string) map[string]string {
	env := map[string]string{}
	if strings.HasPrefix(agent, agents.ScriptScheme) {
		return env
	}
	names := acp.Environment() // the server's configuration may name any agent
	if p, ok := acp.FindPreset(agent); ok {
		names = p.Environment()
	}
	for _, name := range slices.Concat(names, a.userConfig.PassEnv) {
		prefix, all := strings.CutSuffix(name, "*")
		if !all {
			env[name] = a.env(name)
			continue
		}
		for _, kv := range os.Environ() {
			k, _, _ := strings.Cut(kv, "=")
			if v := a.env(k); strings.HasPrefix(k, prefix) && v != "" {
				env[k] = v
			}
		}
	}
	delete(env, "AGENTCTL_TOKEN")
	return env
}

// secretValues returns the values that the log of --wire hides.
func (a *app) secretValues() []string {
	var values []string
	for _, v := range a.shellEnvironment("") {
		if len(v) >= minSecret {
			values = append(values, v)
		}
	}
	return values
}
