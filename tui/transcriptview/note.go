package transcriptview

import (
	"strings"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/transcript"
	"agentctl/tui/turns"
	"agentctl/tui/ui"
)

// note is a short text between messages and tool calls: a description of an event, the end of a
// turn or a mark.
type note struct {
	itemAnchor
	styles      *ui.Styles
	level       string // protocol.LevelInfo and others
	text        string
	fromEvent   bool // it describes an event
	turnEnd     bool
	blankBefore bool   // put a blank line before it
	retry       *retry // nil: it shows none
}

// Estimate implements transcript.Item.
func (n *note) Estimate(width int, _ bool) int { return 1 + len(n.text)/max(width-ui.Indent, 1) }

// Block implements transcript.Item.
func (n *note) Block(width int, _ bool) transcript.Block {
	if n.retry != nil {
		n.text = n.retry.text(n.styles.Now())
	}
	style := levelStyle(n.styles, n.level)
	b := transcript.Block{
		Body:       ui.Wrap(n.text, width-ui.Indent),
		RenderLine: func(line string) string { return "   " + style.Render(line) },
	}
	if n.blankBefore {
		b.Header = []string{""}
	}
	return b
}

// levelStyle returns the style of a level. Call it in every Block: the theme can change.
func levelStyle(s *ui.Styles, level string) *ui.Style {
	switch level {
	case protocol.LevelSuccess:
		return &s.Success
	case protocol.LevelWarning:
		return &s.Warning
	case protocol.LevelError:
		return &s.Error
	}
	return &s.Dim
}

// turnEndNote returns the note that ends a turn, given as a whole and in brief.
func turnEndNote(s *ui.Styles, t *protocol.Turn, brief *turns.Turn, by *protocol.Actor) *note {
	d, level, anchor := t.End, protocol.LevelInfo, itemAnchor{seq: t.Last}
	if d.Failed() {
		level, anchor.kind = protocol.LevelError, StepAnchor
	}
	parts := []string{describe.Reason(d.Reason) + describe.By(by)}
	if d.Code == protocol.CodeServerRestart {
		parts[0] = "the server restarted"
	} else if d.Message != "" {
		parts[0] += ": " + d.Message
	}
	if d.ResetsAt != nil {
		parts = append(parts, "resets "+s.ShortDate(*d.ResetsAt))
	}
	if d.DurationMS > 0 {
		parts = append(parts, describe.Took(brief.Took()))
	}
	if u := d.Usage; u != nil {
		parts = append(parts, describe.Usage(&protocol.Usage{Input: u.Input, Output: u.Output}, format.Thousands)...)
	}
	return &note{
		itemAnchor: anchor, styles: s, level: level, text: "── " + strings.Join(parts, " · "), blankBefore: true,
		turnEnd: true,
	}
}
