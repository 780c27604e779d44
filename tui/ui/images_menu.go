package ui

import (
	tea "charm.land/bubbletea/v2"

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

// NewImagesMenu returns a menu that sets how images are drawn, with an [ImagesMsg].
func NewImagesMenu(s *Styles) *Menu {
	m := NewMenu(s, List[Entry]{
		Title: s.Heading("images"), Hint: s.ChooseHint("set"),
		Rows: func(string) (out []Entry) {
			for _, e := range imageModes {
				text := Radio(e.mode == s.Images.Mode(), Pad(string(e.mode), 8)+e.text)
				out = append(out, Entry{ID: string(e.mode), Text: text})
			}
			return out
		},
		Choose: func(e Entry) Response {
			return Response{Close: true, Cmd: func() tea.Msg { return ImagesMsg{thumbnail.Mode(e.ID)} }}
		},
	})
	m.Select(string(s.Images.Mode()))
	return m
}
