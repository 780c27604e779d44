package dialect

import (
	"agentctl/protocol/agentloop"
	"agentctl/protocol/codec"
	"agentctl/protocol/effectiveagent"
	"agentctl/protocol/multiagent"
	"agentctl/protocol/myagent"
	"agentctl/protocol/sandcastle"
)

// all lists the dialects by name.
var all = []codec.Dialect{
	agentloop.Dialect, effectiveagent.Dialect, multiagent.Dialect, myagent.Dialect, sandcastle.Dialect,
}

// Names returns the names of the dialects.
func Names() []string {
	names := make([]string, len(all))
	for i, d := range all {
		names[i] = d.Name
	}
	return names
}

// Find returns the dialect of a name.
func Find(name string) (codec.Dialect, bool) {
	for _, d := range all {
		if d.Name == name {
			return d, true
		}
	}
	return codec.Dialect{}, false
}
