package composer

import (
	"fmt"
	"strings"

	"agentctl/internal/format"
)

// foldedLines is the least number of lines of a paste that is shown as their number.
const foldedLines = 20

// fold is a paste that is shown as the number of its lines. It ends when the cursor enters it or its
// text changes.
type fold struct {
	text string
	from int // its place in the text of the composer, in bytes
	size int // of the text of the composer
}

// newFold returns the fold of a text that is inserted into a composer, or nil if it has few lines.
func newFold(text string, from int) *fold {
	text = strings.TrimSuffix(text, "\n")
	if strings.Count(text, "\n") < foldedLines-1 {
		return nil
	}
	return &fold{text: text, from: from}
}

// follow finds the fold in the text of the composer. It returns false once the fold has ended.
func (f *fold) follow(text string, cursor int) bool {
	moved := f.from + len(text) - f.size // after a change before it
	if f.size = len(text); !strings.HasPrefix(text[min(f.from, len(text)):], f.text) {
		f.from = max(0, min(moved, len(text)))
	}
	return strings.HasPrefix(text[f.from:], f.text) && (cursor <= f.from || cursor >= f.from+len(f.text))
}

// area returns a text area with a note in place of the fold. shell is [Composer.Shell].
func (f *fold) area(text string, cursor int, shell bool) longText {
	n := strings.Count(f.text, "\n") + 1
	note := format.Count(n, "line")
	if n >= 1000 {
		note = fmt.Sprintf("%d,%03d lines", n/1000, n%1000)
	}
	note = "[" + note + "]"
	end := f.from + len(f.text)
	if cursor >= end {
		cursor += len(note) - len(f.text)
	}
	area := newArea()
	area.setPrompt(shell)
	area.SetText(text[:f.from]+note+text[end:], cursor)
	return area
}
