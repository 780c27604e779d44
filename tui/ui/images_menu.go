package ui

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/tui/keymap"
	"agentctl/tui/thumbnail"
)

// Messages about images.
type (
	// ImagesMsg asks the program to draw images in another way.
	ImagesMsg struct{ Mode thumbnail.Mode }

	// QueryImagesMsg asks the program to query the terminal for its graphics.
	QueryImagesMsg struct{}

	// ImagesChangedMsg reports that it is known how images are drawn.
	ImagesChangedMsg struct{}
)

// imagesMenu is the menu of the ways to draw images.
type imagesMenu struct{ styles *Styles }

// NewImagesMenu returns a menu that sets how images are drawn, with an [ImagesMsg].
func NewImagesMenu(s *Styles) *Menu {
	return NewMenu(s, imagesMenu{s}, string(s.Images.Mode()), func() string { return "" })
}

// Title implements [Listing].
func (m imagesMenu) Title() string { return m.styles.Bold.Render("images") }

// Empty implements [Listing].
func (m imagesMenu) Empty() string { return "" }

// Hint implements [Listing].
func (m imagesMenu) Hint() string { return "↑↓ · " + m.styles.Keys.Hint(keymap.Choose, "set") }

// imageModes describes the modes.
var imageModes = [...]struct {
	mode thumbnail.Mode
	text string
}{
	{thumbnail.Auto, "by the terminal"},
	{thumbnail.UseKitty, "with the graphics protocol of kitty"},
	{thumbnail.Blocks, "in half blocks"},
	{thumbnail.Off, "as a line of text"},
}

// Entries implements [Listing].
func (m imagesMenu) Entries() []Entry {
	var out []Entry
	for _, e := range imageModes {
		mark := "( ) "
		if e.mode == m.styles.Images.Mode() {
			mark = "(•) "
		}
		out = append(out, Entry{ID: string(e.mode), Text: mark + Pad(string(e.mode), 8) + e.text})
	}
	return out
}

// Act implements [Listing].
func (m imagesMenu) Act(id, key string) Response {
	if m.styles.Keys.At(keymap.Lists, key) != keymap.Choose {
		return Response{}
	}
	return Response{Close: true, Cmd: func() tea.Msg { return ImagesMsg{thumbnail.Mode(id)} }}
}
