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

// Deadline implements [ui.Timed]: a change of the screen is followed by the load of its images. A
// transcript without images has no deadline.
func (i *Images) Deadline() time.Time {
	if i.at.IsZero() && i.Transcript.HasPictures && !i.Hidden && i.Changed() && i.Replica.CaughtUp &&
		i.Styles.Images.Draws() {
		i.at = i.Now().Add(loadDelay)
	}
	return i.at
}

// Due implements [ui.Timed].
func (i *Images) Due() (cmd tea.Cmd, changed bool) {
	i.at = time.Time{}
	return i.show()
}

// show loads the images on the screen that are not loaded.
func (i *Images) show() (cmd tea.Cmd, changed bool) {
	if i.Hidden || !i.Styles.Images.Draws() {
		return nil, false
	}
	var cmds []tea.Cmd
	shown := 0
	for _, item := range i.visible() {
		for _, p := range transcriptview.Pictures(item) {
			if shown++; shown > maxShown {
				break
			}
			if p.Thumbnail == nil && !p.Loading && p.Problem == "" {
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
	var loaded *thumbnail.Thumbnail
	return i.Commands.Run(func(ctx context.Context) error {
		data, err := f.Content()
		if f.Blob != "" && !f.Inline() {
			data, err = files.ReadBlob(ctx, i.Commands, f.Blob, picture.MaxBytes)
		}
		switch {
		case err != nil:
			return err
		case data == nil:
			return errors.New("the session has no content of it")
		}
		ctx, cancel := context.WithTimeout(ctx, decodeTime)
		defer cancel()
		loaded, err = display.Load(ctx, data)
		return err
	}, func(err error) tea.Cmd {
		p.Loading, p.Thumbnail = false, loaded
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			p.Problem = "it takes too long to decode"
		case err != nil:
			p.Problem = remote.ErrorText(err)
		}
		i.Transcript.List.Restyle()
		return nil
	})
}
