package transcriptview

import (
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// The bars in the gutter of messages: of users and of agents.
const (
	userBar  = "▎"
	agentBar = "▏"
)

// heading is the first line of a message: its author and its time. It is empty if the message
// continues the one before.
type heading struct{ name, clock string }

// line returns the heading in the colour of the speaker, behind the margin of the message.
func (h heading) line(s *ui.Styles, speaker *ui.Style, margin string, width int) string {
	name := ui.Fit(transcript.Clean(h.name), max(1, width-ui.Indent-1-len(h.clock)))
	return margin + speaker.Render(name) + " " + s.Dim.Render(h.clock)
}

// gutter returns the left margin of a message with its bar. The bar of a user stands out: it marks
// where a turn starts.
func gutter(style *ui.Style, bar string) string {
	return " " + style.Render(bar) + " "
}

// blankLines returns the lines between an item and the one before: none within a group.
func blankLines(joined bool) []string {
	if joined {
		return nil
	}
	return []string{""}
}
