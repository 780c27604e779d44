package describe

import (
	"strings"

	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// Agent returns an agent in a word: of an ad hoc command the program or file, without its directory.
func Agent(agent string) string {
	name := ui.OneLine(transcript.Clean(agent))
	if _, command, ok := strings.Cut(name, ":"); ok {
		name, _, _ = strings.Cut(strings.TrimSpace(command), " ")
		name = name[strings.LastIndexAny(name, `/\`)+1:]
	}
	return name
}
