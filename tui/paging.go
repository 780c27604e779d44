package tui

import (
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/protocol"
	"agentctl/tui/transcript"
)

const findLabel = " find: "

// ask begins to ask for words.
func (p *pager) ask() { p.input = newWords(p.text) }

// writes handles a key while words are written.
func (p *pager) writes(key string, msg tea.KeyPressMsg) {
	switch key {
	case "esc":
		p.input, p.query = nil, nil
		p.list.SetHighlight(nil)
	case "enter":
		p.text = oneLine(transcript.Clean(p.input.Value()))
		p.input = nil
		p.list.SetHighlight(nil)
		// No words, or more than anybody means, are nothing to look for.
		if p.query, _ = protocol.ParseQuery(p.text); p.query != nil {
			p.list.SetHighlight(func(line string) string { return p.look.highlight(line, p.query) })
			p.next(0)
		}
	default:
		*p.input, _ = p.input.Update(msg)
	}
}

// paste inserts into the words that are written.
func (p *pager) paste(s string) {
	if p.input != nil {
		*p.input, _ = p.input.Update(tea.PasteMsg{Content: oneLine(transcript.Clean(s))})
	}
}

// cursor is the column where words are written.
func (p *pager) cursor() int { return len(findLabel) + p.input.Cursor().X }

// next goes to the place after (1) or before (-1) the last one found, else the
// first line on the screen; 0 takes that line as well.
func (p *pager) next(by int) {
	if p.query == nil {
		return
	}
	match := func(line string) bool { return p.query.Match(ansi.Strip(line)) }
	at, line := p.list.TopLine()
	if p.found {
		at, line = p.at, p.line
	}
	step, from := by|1, line+by
	for ; at >= p.list.First() && at <= p.list.Last(); at += transcript.ID(step) {
		if s, ok := p.list.Item(at).(*sheet); !ok || p.query.Match(s.raw) {
			if line, ok := p.list.FindLine(at, from, step, match); ok {
				p.found, p.at, p.line = true, at, line
				p.list.SetTopLine(at, line)
				return
			}
		}
		if from = 0; step < 0 {
			from = lastLine
		}
	}
	p.word = "“" + p.text + "” is not there"
}

// lastLine stands for the last line of an item.
const lastLine = 1<<31 - 1
