package acp

import (
	"strings"

	"mvdan.cc/sh/v3/shell"

	"agentctl/protocol"
	"agentctl/server/agent/acp/catalog"
	"agentctl/server/agent/acp/remote"
)

// Scheme is the prefix of an agent given as a command: "acp:COMMAND ARG…".
const Scheme = "acp:"

// Address returns the URL of "acp:URL", an agent that runs elsewhere.
func Address(agent string) (url string, ok bool) {
	url, ok = strings.CutPrefix(agent, Scheme)
	return url, ok && remote.IsURL(url)
}

// FindPreset returns the preset with the agent's name, or the preset whose program "acp:COMMAND
// ARG…" runs.
func FindPreset(agent string) (catalog.Preset, bool) {
	if words := commandOf(agent); len(words) > 0 {
		return catalog.PresetOf(words[0])
	}
	return catalog.FindPreset(agent)
}

// commandOf returns the words of "acp:COMMAND ARG…", or nil.
func commandOf(agent string) []string {
	line, ok := strings.CutPrefix(agent, Scheme)
	if !ok || remote.IsURL(line) {
		return nil
	}
	words, err := shell.Fields(line, nil)
	if err != nil {
		return nil
	}
	return words
}

// Find returns the configuration of a preset, of "acp:COMMAND ARG…", with arguments quoted as in a
// shell, or of "acp:URL". The error for an unknown name has the code no_agent.
func Find(name string) (Config, error) {
	if url, ok := Address(name); ok {
		if err := remote.CheckURL(url); err != nil {
			return Config{}, protocol.Errorf(protocol.CodeNoAgent, "%s: %v", name, err)
		}
		return Config{Name: url, Remote: &remote.Address{URL: url}}, nil
	}
	p, ok := FindPreset(name)
	if words := commandOf(name); len(words) > 0 {
		return Config{Name: words[0], Command: words, Install: p.Install, Defaults: p.Defaults}, nil
	}
	switch {
	case strings.HasPrefix(name, Scheme):
		return Config{}, protocol.Errorf(protocol.CodeNoAgent,
			"%q is not a command: write %sCOMMAND ARG…", name, Scheme)
	case !ok:
		return Config{}, protocol.Errorf(protocol.CodeNoAgent, "no agent is called %q", name)
	}
	return Config{
		Name: p.Title, Command: p.Command, Install: p.Install, Login: p.Login, Defaults: p.Defaults,
	}, nil
}
