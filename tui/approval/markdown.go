package approval

import (
	"strings"
	"unicode"

	"agentctl/tui/transcript"
)

// document returns a section as Markdown, or nil if it is not Markdown. It returns nil also if
// the drawing would leave out a letter or a digit, such as those of an unused link definition: the
// user decides on the text and must see all of it.
func (s *Section) document() *transcript.Markdown {
	if !s.markdown {
		return nil
	}
	source := transcript.Reveal(s.Text)
	text := transcript.NewMarkdown()
	text.Append(source)
	lines, _ := text.Lines(checkWidth)
	drawn := transcript.StripStyles(strings.Join(lines, "\n"))
	if lettersAndDigits(drawn) != lettersAndDigits(source) {
		return nil
	}
	return text
}

// checkWidth is a width at which tables keep their columns.
const checkWidth = 1000

// lettersAndDigits returns the letters and digits of a text.
func lettersAndDigits(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text)
}
