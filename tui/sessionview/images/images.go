package images

import (
	"context"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/internal/picture"
	"agentctl/tui/describe"
	"agentctl/tui/remote"
	"agentctl/tui/sessionview/files"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/thumbnail"
	"agentctl/tui/transcript"
	"agentctl/tui/transcriptview"
	"agentctl/tui/ui"
)

const (
	// loadDelay is the time from a change of the screen to the load of its images. Images that
	// are scrolled past are not loaded.
	loadDelay = 50 * time.Millisecond

	// decodeTime bounds the time that an image takes.
	decodeTime = 5 * time.Second

	// maxShown bounds the images that are drawn for one screen.
	maxShown = 12
)

// Images shows the images of a transcript.
type Images struct {
	panel.Base
	Transcript *transcriptview.View
	Changed    func() bool // reports whether the screen differs from the one drawn last
	Hidden     bool        // the transcript is not on the screen: no image is loaded

	at time.Time // of the load of the images on the screen; zero: none
}

// loadedMsg is the result of the load of an image.
type loadedMsg struct {
	picture   *transcriptview.Picture
	thumbnail *thumbnail.Thumbnail
	err       error
}

// Deadline implements [ui.Timed]: a change of the screen is followed by the load of its images. A
// transcript without images has no deadline.
func (i *Images) Deadline() time.Time {
	if i.at.IsZero() && i.Transcript.HasPictures && !i.Hidden && i.Changed() && i.Replica.CaughtUp &&
		i.Styles.Images.Method() != thumbnail.AsText {
		i.at = i.Now().Add(loadDelay)
	}
	return i.at
}

// Due implements [ui.Timed].
func (i *Images) Due() (cmd tea.Cmd, changed bool) {
	i.at = time.Time{}
	return i.show()
}

// Update implements [panel.Part].
func (i *Images) Update(msg tea.Msg) (cmd tea.Cmd, changed bool) {
	switch msg := msg.(type) {
	case ui.ImagesChangedMsg:
		return i.show()
	case loadedMsg:
		p := msg.picture
		p.Loading, p.Thumbnail = false, msg.thumbnail
		if msg.err != nil {
			p.Problem = remote.ErrorText(msg.err)
			if errors.Is(msg.err, context.DeadlineExceeded) {
				p.Problem = "it takes too long to decode"
			}
		}
		i.Transcript.List.Restyle()
		return nil, true
	}
	return nil, false
}

// show loads the images on the screen that are not loaded, and sends those to the terminal that it
// does not have. Before the first image, it asks the terminal what it can draw.
func (i *Images) show() (cmd tea.Cmd, changed bool) {
	items := i.visible()
	if len(items) == 0 || i.Hidden {
		return nil, false
	}
	display := i.Styles.Images
	switch display.Method() {
	case thumbnail.AsText:
		return nil, false
	case thumbnail.Undecided:
		return func() tea.Msg { return ui.QueryImagesMsg{} }, false
	}
	var cmds []tea.Cmd
	shown := 0
	width := i.Transcript.List.Width() - ui.Indent
	for _, item := range items {
		for _, p := range transcriptview.Pictures(item) {
			if shown++; shown > maxShown {
				break
			}
			send, ok := display.Show(p.Thumbnail, width)
			switch {
			case send != "":
				cmds = append(cmds, tea.Raw(send))
				changed = true
			case !ok && !p.Loading && p.Problem == "":
				cmds = append(cmds, i.load(transcriptview.Files(item)[p.Index], p))
				changed = changed || p.Problem != ""
			}
		}
	}
	if changed {
		i.Transcript.List.Restyle()
	}
	return tea.Batch(cmds...), changed
}

// visible returns the items on the screen that have images.
func (i *Images) visible() (items []transcript.Item) {
	if !i.Transcript.HasPictures {
		return nil
	}
	list := i.Transcript.List
	list.VisitVisible(func(id transcript.ID, _, _ int) {
		if item := list.Item(id); len(transcriptview.Pictures(item)) > 0 {
			items = append(items, item)
		}
	})
	return items
}

// load fetches and reduces an image. A blob is fetched as soon as the server is connected. A
// recording has no blobs.
func (i *Images) load(f describe.File, p *transcriptview.Picture) tea.Cmd {
	switch {
	case f.Size > picture.MaxBytes:
		p.Problem = "more than " + format.Size(picture.MaxBytes)
		return nil
	case !f.Inline() && (i.Replica.Recorded || f.Blob != "" && !i.Replica.Connected()):
		return nil
	}
	p.Loading = true
	display := i.Styles.Images
	method := display.Method()
	return i.Commands.Tasks.Run(func(ctx context.Context) tea.Msg {
		data, err := f.Content()
		if f.Blob != "" && !f.Inline() {
			data, err = files.ReadBlob(ctx, i.Commands, f.Blob, picture.MaxBytes)
		}
		if err == nil && data == nil {
			err = errors.New("the session has no content of it")
		}
		var t *thumbnail.Thumbnail
		if err == nil {
			ctx, cancel := context.WithTimeout(ctx, decodeTime)
			defer cancel()
			t, err = display.Load(ctx, method, data)
		}
		return loadedMsg{p, t, err}
	})
}
