package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/tui/transcript"
)

// copying is copy mode: lines of the transcript are chosen by keys and copied
// as they are read. Nothing is forgotten meanwhile.
type copying struct {
	on       bool
	at       transcript.Point // the line that the keys move
	from     transcript.Point // where the choice begins
	choosing bool             // from is set
	code     transcript.ID    // whose code was copied last
	block    int              // which block of it
}

// beginCopying begins at the selected item, or at the last line on the screen.
func (m *model) beginCopying() {
	list := m.story.list
	if list.Len() == 0 {
		return
	}
	at := list.PointAt(list.Height() - 1)
	if id, ok := list.Selected(); ok {
		at = list.BodyStart(id)
	}
	m.story.pinned = true
	m.copying.on = true
	m.moveChoice(at)
}

func (m *model) endCopying() {
	m.copying.on, m.copying.choosing = false, false
	m.story.pinned = false
	m.story.list.SetRangeHighlight(transcript.Point{}, transcript.Point{}, nil)
}

// moveChoice moves the line that the keys move, and shows what is chosen.
func (m *model) moveChoice(to transcript.Point) {
	c, list := &m.copying, m.story.list
	c.at = list.Clamp(to)
	if !c.choosing {
		c.from = c.at
	}
	list.EnsureVisible(c.at)
	list.SetRangeHighlight(c.from, c.at, func(line string) string { return m.look.chosen.Render(ansi.Strip(line)) })
}

// copyKey handles a key in copy mode.
func (m *model) copyKey(key string) tea.Cmd {
	c, list := &m.copying, m.story.list
	page := max(1, list.Height()-1)
	switch m.look.keys.in(inCopying, key) {
	case doBack:
		m.endCopying()
	case doUp:
		m.moveChoice(list.MovePoint(c.at, -1))
	case doDown:
		m.moveChoice(list.MovePoint(c.at, 1))
	case doFirst:
		m.moveChoice(transcript.Point{Item: list.First()})
	case doLast:
		m.moveChoice(transcript.Point{Item: list.Last() + 1})
	case doBeginChoice:
		c.choosing = true
		c.from = c.at
		m.moveChoice(c.at)
	case doChooseBlock:
		m.chooseBlock()
	case doTakeChoice:
		lines, more := list.TextBetween(c.from, c.at, copyMost)
		m.endCopying()
		what := "lines"
		if more {
			what = "the first lines"
		}
		return m.copy(what, strings.Join(lines, "\n"))
	default:
		switch m.look.keys.at(everywhere, key) {
		case doPageUp:
			m.moveChoice(list.MovePoint(c.at, -page))
		case doPageDown:
			m.moveChoice(list.MovePoint(c.at, page))
		case doNextPart, doPreviousPart, doHelp, doInterrupt, doFind:
			m.endCopying()
			return m.dispatch(key, tea.KeyPressMsg{})
		}
	}
	return nil
}

// chooseBlock chooses the block of lines that the keys are in; when it is
// chosen, the next one too.
func (m *model) chooseBlock() {
	c, list := &m.copying, m.story.list
	from, to := list.Paragraph(c.at)
	if c.choosing && c.at == to && !from.Before(c.from) {
		_, to = list.Paragraph(list.MovePoint(to, 1))
		if words, _ := list.TextBetween(to, to, copyMost); len(words) > 0 && words[0] == "" {
			_, to = list.Paragraph(list.MovePoint(to, 1)) // past the line between them
		}
		m.moveChoice(to)
		return
	}
	c.choosing, c.from = true, from
	m.moveChoice(to)
}

// hint is what copy mode says of itself.
func (c *copying) hint(l *look, list *transcript.List) string {
	return l.warn.Render("copy mode: "+count(list.CountLines(c.from, c.at), "line")) + l.dim.Render(" · "+
		l.keys.hint(doBeginChoice, "begins a choice", doChooseBlock, "block", doTakeChoice, "copies", doBack, "ends it"))
}

// copyItem copies what an item says, as it was said: of a tool call the output.
func (m *model) copyItem(s transcript.Item) tea.Cmd {
	switch s := s.(type) {
	case *asked:
		return m.copy("the message", s.message.Text)
	case *said:
		return m.copy("the message", string(s.item.Text))
	case *thought:
		return m.copy("the thought", string(s.item.Text))
	case *toolCall:
		if output := s.printed(); output != "" {
			return m.copy("the output", output)
		}
		return m.copy("the call", s.arguments())
	}
	return m.copy("it", wording(s))
}

// copyCode copies a block of code in a message, the next one each time; of a
// tool call what is called with.
func (m *model) copyCode(id transcript.ID) tea.Cmd {
	c := &m.copying
	var text string
	switch s := m.story.list.Item(id).(type) {
	case *said:
		text = string(s.item.Text)
	case *asked:
		text = s.message.Text
	case *thought:
		text = string(s.item.Text)
	case *toolCall:
		return m.copy("the call", s.arguments())
	case *decision:
		return m.copy("the command", wording(s))
	}
	blocks := transcript.CodeBlocks(transcript.Clean(text))
	if len(blocks) == 0 {
		m.word = "there is no code in it"
		return nil
	}
	if c.block++; c.code != id || c.block >= len(blocks) {
		c.code, c.block = id, 0
	}
	what := "the code"
	if len(blocks) > 1 {
		what = fmt.Sprintf("code block %d of %d", c.block+1, len(blocks))
	}
	return m.copy(what, blocks[c.block])
}
