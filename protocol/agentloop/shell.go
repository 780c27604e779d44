package agentloop

import (
	"strings"

	"agentctl/protocol"
)

// splitCommand returns a command as words. What is shown is what runs, so any command except plain
// words is passed to a shell. [protocol.JoinCommand] is its inverse.
func splitCommand(command string) []string {
	words := strings.Fields(command)
	if len(words) > 0 && !strings.Contains(words[0], "=") && protocol.JoinCommand(words) == command {
		return words
	}
	return []string{"bash", "-lc", command}
}
