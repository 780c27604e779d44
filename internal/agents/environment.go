package agents

import (
	"cmp"
	"maps"
	"slices"

	"agentctl/server/agent"
	"agentctl/server/agent/llm/provider"
)

// Keys implements session.Keys: the variables of credentials that an agent reads, sorted.
func (r *Registry) Keys(agent string) (names []string) {
	agent = cmp.Or(agent, r.Default)
	switch {
	case r.isPipeline(agent):
		for _, role := range roles(r.Configured[agent].Pipeline) {
			names = append(names, r.Keys(role)...)
		}
	case r.isModel(agent):
		return r.Providers.KeyVariables()
	default:
		p, _ := r.FindPreset(agent)
		names = slices.Clone(p.Keys)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// variables returns the variables of a session and those that the configuration of its agent sets.
// A user's session overrides the configuration, a session that an agent created does not.
func (r *Registry) variables(name string, spec *agent.Spec) map[string]string {
	env := maps.Clone(spec.Env)
	if env == nil {
		env = map[string]string{}
	}
	if spec.Parent != "" {
		for _, address := range provider.AddressVariables() {
			delete(env, address)
		}
	}
	configured := r.Configured[name].Env
	for k, v := range configured {
		if env[k] == "" || spec.Parent != "" { // empty: the shell of the session's creator lacks it
			env[k] = v
			if address := r.Providers.AddressVariable(k); address != "" && v != "" && configured[address] == "" {
				delete(env, address) // a configured key does not go to an address of the session
			}
		}
	}
	return env
}
