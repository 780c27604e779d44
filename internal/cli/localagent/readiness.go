package localagent

import (
	"cmp"
	"slices"

	"agentctl/internal/agents"
)

// Readiness returns how near an agent is to its first turn: 0 if it is ready, 1 without a login, 2
// if it is not installed. A model without a key counts as not installed.
func Readiness(r *agents.Installation) int {
	switch {
	case !r.Installed || r.Model != "" && r.Login == agents.LoginMissing:
		return 2
	case r.Login == agents.LoginMissing:
		return 1
	}
	return 0
}

// SortReady sorts names of agents of this user's server: those that are ready first, then in their
// given order. It returns the names as they are if its configuration cannot be read.
func (m Machine) SortReady(names []string) []string {
	registry, err := m.Registry()
	if err != nil {
		return names
	}
	return readyFirst(m.Inspector(registry), names)
}

func readyFirst(x *agents.Inspector, names []string) []string {
	rank := map[string]int{}
	for _, name := range names {
		r := x.Inspect(name)
		rank[name] = Readiness(&r)
	}
	sorted := slices.Clone(names)
	slices.SortStableFunc(sorted, func(a, b string) int { return rank[a] - rank[b] })
	return sorted
}

// Installations describes the agents of this user's server: the default one first, then the others
// that are ready. It returns nothing if its configuration cannot be read.
func (m Machine) Installations(names []string) (out []agents.Installation) {
	registry, err := m.Registry()
	if err != nil {
		return nil
	}
	x := m.Inspector(registry)
	first := cmp.Or(formAgent(x, names), registry.Default)
	names = readyFirst(x, names)
	if at := slices.Index(names, first); at > 0 {
		names = slices.Insert(slices.Delete(names, at, at+1), 0, first)
	}
	for _, name := range names {
		out = append(out, x.Inspect(name))
	}
	return out
}

// formAgent is ForForm for the agents that x looks at.
func formAgent(x *agents.Inspector, names []string) string {
	if name := x.Registry.Default; name != "" {
		if r := x.Inspect(name); Readiness(&r) == 0 {
			return ""
		}
	}
	name, _ := firstReady(x, names)
	return name
}

// ForForm returns the agent of this user's server that the form of a new session starts with: "" for
// the default if that is ready or no agent is, else the first of the names that is ready.
func (m Machine) ForForm(names []string) string {
	registry, err := m.Registry()
	if err != nil {
		return ""
	}
	return formAgent(m.Inspector(registry), names)
}
