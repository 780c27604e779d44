package session

import (
	"strings"
	"time"

	"agentctl/protocol"
)

const (
	maxOutputLine  = 200             // bytes of the line in the summary
	outputInterval = 1 * time.Second // minimum time between summaries that change only in this line
)

// An outputLine is the last line of text that an agent wrote. The zero value is an empty line.
type outputLine struct {
	line      string // the last line that is not blank; its end is cut
	turn      string // in which it was written
	part      string // that wrote it; unique in the turn
	ended     bool   // a line break follows
	full      bool   // its end was cut
	published time.Time
}

// storedOutput returns the line of a stored summary.
func storedOutput(sum *protocol.Summary) outputLine {
	return outputLine{line: sum.Output, ended: true}
}

// write appends an agent's text of a turn; other deltas change nothing. It reports whether the
// summary is to be published for it: the line is old enough.
func (o *outputLine) write(turn string, d protocol.Delta, now time.Time) bool {
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
	if passed := now.Sub(o.published); passed >= 0 && passed < outputInterval { // negative: the clock was set
		return false
	}
	o.published = now
	return true
}

// add appends text without line breaks to the line, or starts a new one with it.
func (o *outputLine) add(text string) {
	if o.ended || o.line == "" {
		if text = strings.TrimLeft(text, " \t\r"); text == "" {
			return
		}
		o.line, o.ended, o.full = "", false, false
	}
	if o.full {
		return
	}
	o.line += text[:min(len(text), 2*maxOutputLine)]
	if o.full = len(o.line) > maxOutputLine; o.full {
		o.line = protocol.SplitText(o.line, maxOutputLine)[0]
	}
}

// text returns the line.
func (o *outputLine) text() string { return strings.TrimRight(o.line, " \t\r") }
