package tool

import (
	"strings"
	"unicode/utf8"
)

// instructionFiles are the files with instructions for agents. The first that exists is read.
var instructionFiles = []string{"AGENTS.md", "CLAUDE.md"}

// maxInstructions bounds them, in bytes.
const maxInstructions = 32 << 10

// readInstructions returns the instructions of a directory, or "".
func readInstructions(d *directory) string {
	for _, name := range instructionFiles {
		p, err := d.locate(name)
		if err != nil || p.outside {
			continue
		}
		c, err := p.read()
		if err != nil || !c.exists || !utf8.Valid(c.bytes) {
			continue
		}
		text := string(c.bytes)
		if len(text) > maxInstructions {
			text = strings.ToValidUTF8(text[:maxInstructions], "") + "\n[the rest of " + name + " was left out]"
		}
		if text = strings.TrimSpace(text); text != "" {
			return "Instructions of the file " + name + " of the directory:\n\n" + text
		}
	}
	return ""
}
