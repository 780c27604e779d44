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

// copier copies items of the transcript and their code to the clipboard.
type copier struct {
	view      *transcriptview.View
	status    *ui.Status
	clipboard ui.Clipboard

	item  transcript.ID // whose code was copied last
	block int           // index of that block in the item
}

// PressCopyMode handles a key in copy mode. It returns false if copy mode is not active, or if the
// key ends it and belongs to another part.
func (p *Pane) PressCopyMode(key string) (cmd tea.Cmd, handled bool) {
	if !p.copying.active {
		return nil, false
	}
	if action := p.Styles.Keys.InList(keymap.CopyMode, key); action != keymap.Copy && action != keymap.Choose {
		return nil, p.copying.press(key)
	}
	text, more := p.copying.take()
	if more {
		return p.copier.copy("the first lines", text), true
	}
	return p.copier.copy("", text), true
}

// CopyHint returns the number of selected lines and the keys of copy mode, or "" outside of it.
func (p *Pane) CopyHint() string { return p.copying.hint() }

// copyLastText copies the last text of the agent.
func (c *copier) copyLastText() tea.Cmd {
	list := c.view.List
	for id := list.Last(); list.Len() > 0 && id >= list.First(); id-- {
		if item := list.Item(id); transcriptview.IsAgentText(item) {
			return c.copyItem(item)
		}
	}
	c.status.Text = "the agent wrote no text yet"
	return nil
}

// copyItem copies the text of an item.
func (c *copier) copyItem(item transcript.Item) tea.Cmd { return c.copy(transcriptview.CopyText(item)) }

// copyCode copies a code block of an item, or the item if it has none. Each call for the same item copies
// the next block. The end of a turn copies the last block of the turn's texts.
func (c *copier) copyCode(id transcript.ID) tea.Cmd {
	item := c.view.List.Item(id)
	if transcriptview.IsTurnEnd(item) {
		return c.copyLastCode(id)
	}
	blocks, name := transcriptview.Code(item)
	if len(blocks) == 0 {
		return c.copyItem(item)
	}
	if c.block++; c.item != id || c.block >= len(blocks) {
		c.item, c.block = id, 0
	}
	return c.copy(name(c.block), blocks[c.block])
}

// copyLastCode copies the last code block of the texts of the turn that ends with an item. Without code it
// copies the first item of the turn.
func (c *copier) copyLastCode(end transcript.ID) tea.Cmd {
	first, _ := transcriptview.Turn(c.view.List, end)
	for id := end - 1; id >= first; id-- {
		item := c.view.List.Item(id)
		if blocks, _ := transcriptview.Code(item); transcriptview.IsAgentText(item) && len(blocks) > 0 {
			return c.copy("the last code", blocks[len(blocks)-1])
		}
	}
	if first == end {
		c.status.Text = "there is no code in it"
		return nil
	}
	return c.copyItem(c.view.List.Item(first))
}

// copy puts a text into the clipboard, at most [ui.MaxCopy] bytes of it, and reports its size as
// the status message. name describes the text and may be empty.
func (c *copier) copy(name, text string) tea.Cmd {
	text = transcript.Clean(text)
	if text == "" {
		c.status.Text = "there is nothing to copy"
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
	c.status.Text = fmt.Sprintf("copied %s%s, %s%s", name, lines, characters, suffix)
	return c.clipboard.Copy(text)
}
