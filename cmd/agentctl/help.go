package main

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"
)

// helpWidth is how wide help may be: it is read on any terminal.
const helpWidth = 80

// layOut fits the help of a verb, and of those below it, into helpWidth. What flags mean is short enough as it is; a template
// that wraps it would cost every start-up a fifth more program.
func layOut(cmd *cobra.Command) {
	cmd.Long = paragraphs(cmd.Long)
	for _, sub := range cmd.Commands() {
		layOut(sub)
	}
}

// paragraphs breaks text anew, but for lines that are indented.
func paragraphs(text string) string {
	blocks := strings.Split(text, "\n\n")
	for i, block := range blocks {
		if !strings.HasPrefix(block, " ") {
			blocks[i] = ansi.Wordwrap(strings.Join(strings.Fields(block), " "), helpWidth, "")
		}
	}
	return strings.Join(blocks, "\n\n")
}
