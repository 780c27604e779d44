package llm

import (
	_ "embed" // of the prompts
	"os"
	"strings"
	"unicode/utf8"

	"agentctl/protocol"
)

// fullPrompt and smallPrompt begin the system prompt.
var (
	//go:embed prompt.md
	fullPrompt string
	//go:embed prompt_small.md
	smallPrompt string
)

const (
	smallWindow = 32_000    // tokens of a context, below which the small prompt is used
	maxPrompt   = 128 << 10 // bytes of a file with a prompt
)

// instructions returns the system prompt for a context of a number of tokens; 0: not known. It does not change
// within a session, so that providers can cache it: what changes is told in notes.
func instructions(c *Config, window int64, ofTask bool) (string, error) {
	base := fullPrompt
	if window > 0 && window < smallWindow {
		base = smallPrompt
	}
	if file := c.Prompt; file != "" {
		b, err := os.ReadFile(file)
		if err != nil {
			return "", protocol.Errorf(protocol.CodeAgentFailed, "the prompt cannot be read: %v", err)
		}
		if base = string(b); len(b) > maxPrompt || !utf8.ValidString(base) {
			return "", protocol.Errorf(protocol.CodeAgentFailed,
				"the prompt %s must be a text of at most %d KiB", file, maxPrompt>>10)
		}
	}
	texts := []string{strings.TrimSpace(base)}
	if text := c.Instructions; text != "" {
		texts = append(texts, text)
	}
	if ofTask {
		texts = append(texts, taskInstructions)
	}
	return strings.Join(texts, "\n\n"), nil
}
