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
	line, ok := strings.CutPrefix(agent, Scheme)
	if !ok {
		return catalog.FindPreset(agent)
	}
	if remote.IsURL(line) {
		return catalog.Preset{}, false
	}
	words, err := shell.Fields(line, nil)
	if err != nil || len(words) == 0 {
		return catalog.Preset{}, false
	}
	return catalog.PresetOf(words[0])
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
	if line, ok := strings.CutPrefix(name, Scheme); ok {
		words, err := shell.Fields(line, nil)
		if err != nil || len(words) == 0 {
			return Config{}, protocol.Errorf(protocol.CodeNoAgent,
				"%q is not a command: write %sCOMMAND ARG…", name, Scheme)
		}
		p, _ := FindPreset(name)
		return Config{Name: words[0], Command: words, Install: p.Install, Defaults: p.Defaults}, nil
	}
	p, ok := catalog.FindPreset(name)
	if !ok {
		return Config{}, protocol.Errorf(protocol.CodeNoAgent, "no agent is called %q", name)
	}
	return Config{
		Name: p.Title, Command: p.Command, Install: p.Install, Login: p.Login, Defaults: p.Defaults,
	}, nil
}
