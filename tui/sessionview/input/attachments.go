package input

import (
	"context"
	"path/filepath"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/attachment"
	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// attachments are the files of the message in the composer.
type attachments struct {
	styles *ui.Styles
	files  []attachment.File
}

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
		line := " + " + format.JoinLines(transcript.Clean(f.Name)) + " · " + f.MediaType + " · " + format.Size(f.Size)
		if i == len(a.files)-1 {
			line += ui.Prefixed(" · ", a.styles.Keys.Hint(keymap.RemoveAttachment, "removes it"))
		}
		out[i] = a.styles.User.Render(ui.Fit(line, width))
	}
	return out
}

// Paste inserts a pasted text. The paths of existing files become attachments.
func (in *Input) Paste(text string) tea.Cmd {
	paths := attachment.PastedPaths(text, in.Env["HOME"])
	if paths == nil || in.composer.Editing != "" || in.composer.Shell {
		in.composer.Paste(text)
		return nil
	}
	var files []attachment.File
	return in.Commands.Run(func(context.Context) error {
		for _, path := range paths {
			f, err := attachment.Read(path)
			if err != nil {
				return err
			}
			files = append(files, f)
		}
		return nil
	}, func(err error) tea.Cmd {
		if err != nil { // a path of no file is text
			in.composer.Paste(text)
			return nil
		}
		in.addFiles(files...)
		return nil
	})
}

// addFiles adds files to the message in the composer.
func (in *Input) addFiles(files ...attachment.File) {
	in.attachments.files = append(in.attachments.files, files...)
}

// pasteImage attaches the image in the clipboard of this machine.
func (in *Input) pasteImage() tea.Cmd {
	if in.composer.Editing != "" || in.composer.Shell {
		in.Commands.Status.Text = "only a new message takes an image"
		return nil
	}
	clipboard := attachment.Clipboard{Env: in.Env, Files: in.Local}
	var image attachment.File
	return in.Commands.Run(func(ctx context.Context) (err error) {
		image, err = clipboard.Image(ctx)
		return err
	}, func(err error) tea.Cmd {
		if err != nil {
			in.Commands.Status.Text = err.Error()
			return nil
		}
		in.addFiles(image)
		return nil
	})
}

// pressAttachments handles the keys of the attachments. Backspace in an empty composer removes the
// last one.
func (in *Input) pressAttachments(action keymap.Action, key string) (cmd tea.Cmd, handled bool) {
	switch {
	case action == keymap.PasteImage:
		return in.pasteImage(), true
	case in.composer.Shell && key == "backspace" && in.composer.Text() == "":
		in.composer.SetShell(false)
		return nil, true
	case action == keymap.RemoveAttachment || key == "backspace" && in.composer.Text() == "":
		return nil, in.attachments.removeLast()
	}
	return nil, false
}

// parts returns files, and the files that a text mentions as @path, as parts of a message. Only a
// session on this machine has such files.
func (in *Input) parts(text string, files []attachment.File) func() ([]protocol.Part, error) {
	local, cwd := in.Local, in.Replica.State.CWD
	return func() ([]protocol.Part, error) {
		list := files
		if local && filepath.IsAbs(cwd) {
			list = append(list[:len(list):len(list)], attachment.Mentioned(text, cwd)...)
		}
		return attachment.Parts(text, list, local)
	}
}
