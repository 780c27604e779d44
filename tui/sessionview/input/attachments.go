package input

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/attachment"
	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// attachments are the files of the message in the composer.
type attachments struct {
	panel.Base
	files []attachment.File
}

// add adds files to the message.
func (a *attachments) add(files ...attachment.File) { a.files = append(a.files, files...) }

// removeLast removes the last file. It reports whether there was one.
func (a *attachments) removeLast() bool {
	if len(a.files) == 0 {
		return false
	}
	a.files = a.files[:len(a.files)-1]
	return true
}

// take removes all files and returns them.
func (a *attachments) take() []attachment.File {
	files := a.files
	a.files = nil
	return files
}

// view returns a line for each file. The last one names the key that removes it.
func (a *attachments) view(width int) []string {
	out := make([]string, len(a.files))
	for i := range a.files {
		f := &a.files[i]
		line := " + " + transcript.CleanLine(f.Name) + " · " + f.MediaType + " · " + format.Size(f.Size)
		if i == len(a.files)-1 {
			line += ui.Prefixed(" · ", a.Styles.Keys.Hint(keymap.RemoveAttachment, "removes it"))
		}
		out[i] = a.Styles.User.Render(ui.Fit(line, width))
	}
	return out
}

// read adds the files of paths. If one is no file, it adds none and calls failed in the event loop.
func (a *attachments) read(paths []string, failed func()) tea.Cmd {
	var files []attachment.File
	return a.Commands.Run(func(context.Context) error {
		for _, path := range paths {
			f, err := attachment.Read(path)
			if err != nil {
				return err
			}
			files = append(files, f)
		}
		return nil
	}, func(err error) tea.Cmd {
		if err != nil {
			failed()
			return nil
		}
		a.add(files...)
		return nil
	})
}

// pasteImage adds the image in a clipboard.
func (a *attachments) pasteImage(clipboard attachment.Clipboard) tea.Cmd {
	var image attachment.File
	return a.Commands.Run(func(ctx context.Context) (err error) {
		image, err = clipboard.Image(ctx)
		return err
	}, func(err error) tea.Cmd {
		if err != nil {
			a.Commands.Status.Text = err.Error()
			return nil
		}
		a.add(image)
		return nil
	})
}

// parts returns a function that reads the parts of a message: files, and those in the directory of the
// session that the text mentions as @path. dir is "" and local is false if the session is on another
// machine.
func parts(text string, files []attachment.File, dir string, local bool) func() ([]protocol.Part, error) {
	return func() ([]protocol.Part, error) {
		list := files
		if dir != "" {
			list = append(list[:len(list):len(list)], attachment.Mentioned(text, dir)...)
		}
		return attachment.Parts(text, list, local)
	}
}
