package describe

import (
	"strings"

	"agentctl/internal/format"
	"agentctl/tui/transcript"
)

// Agent returns the short name of an agent. For an ad hoc command it is the program or file without
// its directory.
func Agent(agent string) string {
	name := format.JoinLines(transcript.Clean(agent))
	if _, command, ok := strings.Cut(name, ":"); ok {
		name, _, _ = strings.Cut(strings.TrimSpace(command), " ")
		name = name[strings.LastIndexAny(name, `/\`)+1:]
	}
	return name
}
