package output

import (
	"strings"
	"time"

	"agentctl/protocol"
)

const (
	maxLine      = 200             // bytes of the line in the summary
	lineInterval = 1 * time.Second // minimum time between summaries that change only in this line
)

// A Line is the last line of text that an agent wrote. The zero value is an empty line.
type Line struct {
	line      string // the last line that is not blank; its end is cut
	turn      string // in which it was written
	part      string // that wrote it; unique in the turn
	ended     bool   // a line break follows
	full      bool   // its end was cut
	published time.Time
}

// StoredLine returns the line of a stored summary.
func StoredLine(sum *protocol.Summary) Line {
	return Line{line: sum.Output, ended: true}
}

// Write appends an agent's text of a turn; other deltas change nothing. It reports whether the
// summary is to be published for it: the line is old enough.
func (o *Line) Write(turn string, d protocol.Delta, now time.Time) bool {
	if d.Kind != protocol.KindText {
		return false
	}
	o.ended = o.ended || turn != o.turn || d.Part != o.part
	o.turn, o.part = turn, d.Part
	head, tail, more := strings.Cut(d.Text, "\n")
	o.add(head)
	for more {
		o.ended = true
		head, tail, more = strings.Cut(tail, "\n")
		o.add(head)
	}
	if passed := now.Sub(o.published); passed >= 0 && passed < lineInterval { // negative: the clock was set
		return false
	}
	o.published = now
	return true
}

// add appends text without line breaks to the line, or starts a new one with it.
func (o *Line) add(text string) {
	if o.ended || o.line == "" {
		if text = strings.TrimLeft(text, " \t\r"); text == "" {
			return
		}
		o.line, o.ended, o.full = "", false, false
	}
	if o.full {
		return
	}
	o.line += text[:min(len(text), 2*maxLine)]
	if o.full = len(o.line) > maxLine; o.full {
		o.line = protocol.SplitText(o.line, maxLine)[0]
	}
}

// String returns the line.
func (o *Line) String() string { return strings.TrimRight(o.line, " \t\r") }

// Of returns the line if it was written in a turn, else "".
func (o *Line) Of(turn string) string {
	if o.turn != turn {
		return ""
	}
	return o.String()
}
