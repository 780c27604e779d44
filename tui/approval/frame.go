package approval

import (
	"strings"

	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// frame draws the frame of a card: lines around it, or a ground with a bar on its left.
type frame struct {
	styles  *ui.Styles
	width   int // with the frame
	focused bool
	open    bool // the frame has no sides
}

// edge are the first and the last character of an edge of a frame.
type edge [2]string

var (
	topEdge    = edge{"╭", "╮"}
	middleEdge = edge{"├", "┤"}
	bottomEdge = edge{"╰", "╯"}
	openEdge   = edge{"", "─"} // of a frame without sides
)

func (f frame) style() ui.Style {
	if f.focused {
		return f.styles.Warning
	}
	return f.styles.Dim
}

// line draws a line between the sides of the frame, if it has some.
func (f frame) line(text string) string {
	text = ui.Pad(text, max(0, f.width-frameWidth))
	switch {
	case f.styles.Grounds():
		return f.styles.Ground([]string{f.style().Render("▎") + " " + text + "  "}, f.width)[0]
	case f.open:
		return "  " + text + "  "
	}
	side := f.style().Render("│")
	return side + " " + text + " " + side
}

// rule draws an edge of the frame with a title.
func (f frame) rule(title string, ends edge) string {
	style := f.style()
	switch {
	case f.styles.Grounds():
		return f.line(ui.Fit(title, f.width-frameWidth))
	case f.width < frameWidth:
		return style.Render(strings.Repeat("─", max(f.width, 0)))
	}
	if f.open {
		ends = openEdge
	}
	left := style.Render(ends[0] + "─")
	if title = ui.Fit(title, f.width-frameWidth-2); title != "" {
		left += " " + title + " "
	}
	return left + style.Render(strings.Repeat("─", max(0, f.width-1-transcript.Width(left)))+ends[1])
}
