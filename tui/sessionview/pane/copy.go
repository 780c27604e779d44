package pane

import (
	"fmt"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
	"agentctl/tui/transcriptview"
	"agentctl/tui/ui"
)

// codeBlock identifies a code block of an item.
type codeBlock struct {
	item  transcript.ID
	index int // in the item
}

// PressCopyMode handles a key in copy mode. It returns false if copy mode is not active, or if the
// key ends it and belongs to another part.
func (p *Pane) PressCopyMode(key string) (cmd tea.Cmd, handled bool) {
	if !p.copying.active {
		return nil, false
	}
	if p.Styles.Keys.InList(keymap.CopyMode, key) != keymap.CopySelection {
		return nil, p.copying.press(key)
	}
	text, more := p.copying.take()
	if more {
		return p.copy("the first lines", text), true
	}
	return p.copy("", text), true
}

// CopyHint returns the number of selected lines and the keys of copy mode, or "" outside of it.
func (p *Pane) CopyHint() string {
	if !p.copying.active {
		return ""
	}
	return p.copying.hint()
}

// CopyLastText copies the last text of the agent.
func (p *Pane) CopyLastText() tea.Cmd {
	list := p.View.List
	for id := list.Last(); list.Len() > 0 && id >= list.First(); id-- {
		if item := list.Item(id); transcriptview.IsAgentText(item) {
			return p.copyItem(item)
		}
	}
	p.Commands.Status.Text = "the agent wrote no text yet"
	return nil
}

// copyItem copies the text of an item.
func (p *Pane) copyItem(item transcript.Item) tea.Cmd { return p.copy(transcriptview.CopyText(item)) }

// copyCode copies a code block of an item. Each call for the same item copies the next block.
func (p *Pane) copyCode(id transcript.ID) tea.Cmd {
	blocks, name := transcriptview.Code(p.View.List.Item(id))
	if len(blocks) == 0 {
		p.Commands.Status.Text = "there is no code in it"
		return nil
	}
	c := &p.code
	if c.index++; c.item != id || c.index >= len(blocks) {
		*c = codeBlock{item: id}
	}
	return p.copy(name(c.index), blocks[c.index])
}

// copy puts a text into the clipboard, at most [ui.MaxCopy] bytes of it, and reports its size as
// the status message. name describes the text and may be empty.
func (p *Pane) copy(name, text string) tea.Cmd {
	status := p.Commands.Status
	text = transcript.Clean(text)
	if text == "" {
		status.Text = "there is nothing to copy"
		return nil
	}
	suffix := ""
	if len(text) > ui.MaxCopy {
		text = text[:ui.MaxCopy]
		for !utf8.ValidString(text[len(text)-utf8.UTFMax:]) {
			text = text[:len(text)-1]
		}
		suffix = ", the first MiB of it"
	}
	lines := format.Count(1+strings.Count(strings.TrimSuffix(text, "\n"), "\n"), "line")
	characters := format.Count(utf8.RuneCountInString(text), "character")
	if name != "" {
		name += ": "
	}
	status.Text = fmt.Sprintf("copied %s%s, %s%s", name, lines, characters, suffix)
	return p.Clipboard.Copy(text)
}
