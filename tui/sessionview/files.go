package sessionview

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/download"
	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/keymap"
	"agentctl/tui/request"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// maxFile bounds a file that is saved or opened, in bytes.
const maxFile = 64 << 20

// fileUse is an action on the content of a file.
type fileUse func(f describe.File, data []byte) tea.Cmd

// useFiles fetches a file and passes it to use. If there are several, the user chooses one first.
func (v *View) useFiles(files []describe.File, use fileUse) tea.Cmd {
	switch len(files) {
	case 0:
		v.status.Text = "there is no file in it"
		return nil
	case 1:
		return v.fetchFile(files[0], use)
	}
	choose := func(i int) tea.Cmd { return v.fetchFile(files[i], use) }
	v.pushMenu(&fileMenu{styles: v.Styles, files: files, choose: choose})
	return nil
}

// fetchFile gets the content of a file, from its event or its blob, and passes it to use.
func (v *View) fetchFile(f describe.File, use fileUse) tea.Cmd {
	data, err := f.Content()
	switch {
	case f.Blob == "" && err != nil:
		v.status.Text = err.Error()
		return nil
	case err == nil && data != nil:
		return use(f, data)
	case f.Blob == "" && f.Link != "":
		v.status.Text = "it is a link, not a file: " + ui.Excerpt(transcript.Clean(f.Link))
		return nil
	case f.Blob == "":
		v.status.Text = "the session has no content of this file"
		return nil
	}
	return v.commands.Run(func(ctx context.Context) (err error) {
		data, err = readBlob(ctx, v.commands, f.Blob, maxFile)
		return err
	}, func(err error) tea.Cmd {
		if err != nil {
			return v.commands.Report(err)
		}
		return use(f, data)
	})
}

// readBlob requests the pieces of a blob of at most limit bytes.
func readBlob(ctx context.Context, c *request.Sender, id string, limit int64) ([]byte, error) {
	var data []byte
	for {
		piece := new(protocol.BlobResult)
		request := protocol.BlobData{Blob: id, Offset: int64(len(data))}
		if err := c.Session.Do(ctx, protocol.DoBlob, request, piece); err != nil {
			return nil, err
		}
		data = append(data, piece.Data...)
		switch got := int64(len(data)); {
		case got == piece.Bytes:
			return data, nil
		case piece.Bytes > limit:
			return nil, fmt.Errorf("blob %s has %d bytes: save it with agentctl blob", id, piece.Bytes)
		case got > piece.Bytes || len(piece.Data) == 0:
			return nil, fmt.Errorf("blob %s: the server sent %d of %d bytes", id, got, piece.Bytes)
		}
	}
}

// openFile opens a file with the system's program for its content.
func (v *View) openFile(_ describe.File, data []byte) tea.Cmd {
	v.status.Text = "opening …"
	return v.commands.Run(func(ctx context.Context) error { return v.Viewer.Open(ctx, data) }, v.commands.Report)
}

// askWhereToSave asks for the name of the new file. It proposes the base name that the agent gave.
func (v *View) askWhereToSave(file describe.File, data []byte) tea.Cmd {
	f := ui.NewForm(v.Styles, "save file", "enter saves · esc cancels",
		ui.NewField("path", download.Name(file.Name, data), "of the new file"))
	f.Submit = func(f *ui.Form) ui.Response {
		path := v.userPath(f.Value(0))
		if path == "" {
			return ui.Response{}
		}
		f.Sending()
		return ui.Response{Cmd: v.saveFile(f, path, data, download.Save)}
	}
	v.overlays.Push(f)
	return nil
}

// askToReplace asks before a file is replaced.
func (v *View) askToReplace(path string, data []byte) {
	f := ui.NewForm(v.Styles, format.JoinLines(transcript.Clean(path))+" exists", "type yes and enter · esc cancels",
		ui.NewField("replace it?", "", "yes"))
	f.Submit = func(f *ui.Form) ui.Response {
		if strings.TrimSpace(f.Value(0)) != "yes" {
			v.status.Text = "not saved: " + path + " exists"
			return ui.Response{Close: true}
		}
		f.Sending()
		return ui.Response{Cmd: v.saveFile(f, path, data, download.Replace)}
	}
	v.overlays.Push(f)
}

// saveFile saves a file and closes the form that asked for its name.
func (v *View) saveFile(f *ui.Form, path string, data []byte, save func(string, []byte) error) tea.Cmd {
	return v.commands.Run(func(context.Context) error { return save(path, data) }, func(err error) tea.Cmd {
		if !v.overlays.Contains(f) {
			return v.commands.Report(err)
		}
		switch {
		case errors.Is(err, fs.ErrExist):
			v.overlays.Remove(f)
			v.askToReplace(path, data)
		case err != nil:
			f.Fail(err.Error(), "type another path")
		default:
			v.overlays.Remove(f)
			v.status.Text = "saved " + path + ", " + format.Count(len(data), "byte")
		}
		return nil
	})
}

// userPath returns a path that the user typed, with ~ replaced by the home directory.
func (v *View) userPath(path string) string {
	path = strings.TrimSpace(path)
	if rest, ok := strings.CutPrefix(path, "~/"); ok && v.Env["HOME"] != "" {
		return filepath.Join(v.Env["HOME"], rest)
	}
	return path
}

// fileMenu is the menu of the files of an item.
type fileMenu struct {
	styles *ui.Styles
	files  []describe.File
	choose func(i int) tea.Cmd
}

// Title implements [ui.Listing].
func (m *fileMenu) Title() string { return m.styles.Bold.Render("which file?") }

// Empty implements [ui.Listing].
func (m *fileMenu) Empty() string { return "" }

// Hint implements [ui.Listing].
func (m *fileMenu) Hint() string { return "↑↓ · " + m.styles.Keys.Hint(keymap.Choose, "choose") }

// Entries implements [ui.Listing].
func (m *fileMenu) Entries() []ui.Entry {
	out := make([]ui.Entry, len(m.files))
	for i := range m.files {
		out[i] = ui.Entry{ID: strconv.Itoa(i), Text: m.files[i].Line()}
	}
	return out
}

// Act implements [ui.Listing].
func (m *fileMenu) Act(id, key string) ui.Response {
	i, err := strconv.Atoi(id)
	if err != nil || m.styles.Keys.At(keymap.Lists, key) != keymap.Choose {
		return ui.Response{}
	}
	return ui.Response{Close: true, Cmd: m.choose(i)}
}
