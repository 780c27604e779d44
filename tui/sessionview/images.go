package sessionview

import (
	"context"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/tui/describe"
	"agentctl/tui/remote"
	"agentctl/tui/sessionview/files"
	"agentctl/tui/thumbnail"
	"agentctl/tui/transcript"
	"agentctl/tui/transcriptview"
	"agentctl/tui/ui"
)

const (
	// imagesDelay is the time from a change of the screen to the load of its images. Images that
	// are scrolled past are not loaded.
	imagesDelay = 50 * time.Millisecond

	// decodeTime bounds the time that an image takes.
	decodeTime = 5 * time.Second

	// maxShown bounds the images that are drawn for one screen.
	maxShown = 12
)

// Messages about images.
type (
	imagesMsg struct{} // the images on the screen are to be loaded
	imageMsg  struct { // the result of the load of an image
		picture   *transcriptview.Picture
		thumbnail *thumbnail.Thumbnail
		err       error
	}
)

// scheduleImages starts the timer of the images after a change of the screen. A transcript without
// images has no timer.
func (v *View) scheduleImages() tea.Cmd {
	view := v.transcript.view
	if !view.HasPictures() || v.transcript.imagesPending || v.hidden || !v.canvas.Dirty || !v.replica.CaughtUp ||
		v.Styles.Images.Method() == thumbnail.AsText {
		return nil
	}
	v.transcript.imagesPending = true
	return v.After(imagesDelay, imagesMsg{})
}

// updateImages handles a message about images.
func (v *View) updateImages(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case imagesMsg:
		v.transcript.imagesPending = false
		return v.showImages()
	case ui.ImagesChangedMsg:
		return v.showImages()
	case imageMsg:
		p := msg.picture
		p.Loading, p.Thumbnail = false, msg.thumbnail
		if msg.err != nil {
			p.Problem = remote.ErrorText(msg.err)
			if errors.Is(msg.err, context.DeadlineExceeded) {
				p.Problem = "it takes too long to decode"
			}
		}
		v.restyleImages()
	}
	return nil
}

// restyleImages lays the transcript out again.
func (v *View) restyleImages() {
	v.transcript.view.List.Restyle()
	v.canvas.Dirty = true
}

// showImages loads the images on the screen that are not loaded, and sends those to the terminal
// that it does not have. Before the first image, it asks the terminal what it can draw.
func (v *View) showImages() tea.Cmd {
	items := v.visiblePictures()
	if len(items) == 0 || v.hidden {
		return nil
	}
	display := v.Styles.Images
	switch display.Method() {
	case thumbnail.AsText:
		return nil
	case thumbnail.Undecided:
		return func() tea.Msg { return ui.QueryImagesMsg{} }
	}
	var cmds []tea.Cmd
	shown := 0
	width := v.transcript.view.List.Width() - ui.Indent
	for _, item := range items {
		for _, p := range transcriptview.Pictures(item) {
			if shown++; shown > maxShown {
				return tea.Batch(cmds...)
			}
			send, ok := display.Show(p.Thumbnail, width)
			switch {
			case send != "":
				cmds = append(cmds, tea.Raw(send))
				v.restyleImages()
			case !ok && !p.Loading && p.Problem == "":
				cmds = append(cmds, v.loadImage(transcriptview.Files(item)[p.Index], p))
			}
		}
	}
	return tea.Batch(cmds...)
}

// visiblePictures returns the items on the screen that have images.
func (v *View) visiblePictures() []transcript.Item {
	list := v.transcript.view.List
	if !v.transcript.view.HasPictures() {
		return nil
	}
	var out []transcript.Item
	list.VisitVisible(func(id transcript.ID, _, _ int) {
		if item := list.Item(id); len(transcriptview.Pictures(item)) > 0 {
			out = append(out, item)
		}
	})
	return out
}

// loadImage fetches and reduces an image. A blob is fetched as soon as the server is connected. A
// recording has no blobs.
func (v *View) loadImage(f describe.File, p *transcriptview.Picture) tea.Cmd {
	switch {
	case f.Size > thumbnail.MaxBytes:
		p.Problem = "more than " + format.Size(thumbnail.MaxBytes)
		v.restyleImages()
		return nil
	case !f.Inline() && (v.replica.Recorded || f.Blob != "" && !v.replica.Connected()):
		return nil
	}
	p.Loading = true
	display := v.Styles.Images
	method := display.Method()
	return v.Tasks.Run(func(ctx context.Context) tea.Msg {
		data, err := f.Content()
		if f.Blob != "" && !f.Inline() {
			data, err = files.ReadBlob(ctx, v.commands, f.Blob, thumbnail.MaxBytes)
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
		return imageMsg{p, t, err}
	})
}

// openPicture opens an image whose picture is drawn at a row of the transcript. It reports false if
// there is none.
func (v *View) openPicture(row int) (tea.Cmd, bool) {
	list := v.transcript.view.List
	id, ok := list.PictureAt(row)
	if row >= list.Height() || !ok {
		return nil, false
	}
	item := list.Item(id)
	var files []describe.File
	all := transcriptview.Files(item)
	for _, p := range transcriptview.Pictures(item) {
		files = append(files, all[p.Index])
	}
	return v.files.Open(files), true
}
