package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/download"
	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/keymap"
	"agentctl/tui/request"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/sessionview/replica"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// maxFile bounds a file that is saved or opened, in bytes.
const maxFile = 64 << 20

// Config holds the dependencies of files.
type Config struct {
	Styles   *ui.Styles
	Replica  *replica.Session
	Commands *request.Sender
	Overlays *ui.Stack // takes the questions
	Viewer   *download.Viewer
	Editor   string // command line of the user's editor
	Home     string // the user's home directory
	Local    bool   // the session's directory is on this machine

	// Exec returns a command that runs another program in the terminal.
	Exec func(tea.ExecCommand, tea.ExecCallback) tea.Cmd
}

// Files carries out what the user does with files of a session.
type Files struct{ Config }

// New returns the files of a session.
func New(c Config) *Files { return &Files{c} }

// Actions returns the actions on the whole session.
func (x *Files) Actions() panel.Actions {
	export := func(path string) panel.Result { return panel.Result{Cmd: x.Export(path)} }
	return panel.Actions{keymap.ExportSession: {Run: export, Text: true}}
}

// use is an action on the content of a file.
type use func(f describe.File, data []byte) tea.Cmd

// Save asks for the name of a new file and saves a file of an item. If the item has several, the user
// chooses one first.
func (x *Files) Save(files []describe.File) tea.Cmd { return x.choose(files, x.askWhereToSave) }

// Open opens a file of an item with the system's program for its content.
func (x *Files) Open(files []describe.File) tea.Cmd { return x.choose(files, x.openFile) }

// choose fetches a file and passes it to use. If there are several, the user chooses one first.
func (x *Files) choose(files []describe.File, use use) tea.Cmd {
	switch len(files) {
	case 0:
		x.Commands.Status.Text = "there is no file in it"
		return nil
	case 1:
		return x.fetchFile(files[0], use)
	}
	texts := make([]string, len(files))
	for i := range files {
		texts[i] = files[i].Line()
	}
	x.pushMenu("which file?", "choose", texts, func(i int) tea.Cmd { return x.fetchFile(files[i], use) })
	return nil
}

// fetchFile gets the content of a file, from its event or its blob, and passes it to use.
func (x *Files) fetchFile(f describe.File, use use) tea.Cmd {
	data, err := f.Content()
	switch {
	case f.Blob == "" && err != nil:
		x.Commands.Status.Text = err.Error()
		return nil
	case err == nil && data != nil:
		return use(f, data)
	case f.Blob == "" && f.Link != "":
		x.Commands.Status.Text = "it is a link, not a file: " + ui.Excerpt(transcript.Clean(f.Link))
		return nil
	case f.Blob == "":
		x.Commands.Status.Text = "the session has no content of this file"
		return nil
	}
	return x.Commands.Run(func(ctx context.Context) (err error) {
		data, err = ReadBlob(ctx, x.Commands, f.Blob, maxFile)
		return err
	}, func(err error) tea.Cmd {
		if err != nil {
			return x.Commands.Report(err)
		}
		return use(f, data)
	})
}

// ReadBlob requests the pieces of a blob of at most limit bytes.
func ReadBlob(ctx context.Context, c *request.Sender, id string, limit int64) ([]byte, error) {
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
func (x *Files) openFile(_ describe.File, data []byte) tea.Cmd {
	x.Commands.Status.Text = "opening …"
	return x.Commands.Run(func(ctx context.Context) error { return x.Viewer.Open(ctx, data) }, x.Commands.Report)
}

// askWhereToSave asks for the name of the new file. It proposes the base name that the agent gave.
func (x *Files) askWhereToSave(file describe.File, data []byte) tea.Cmd {
	f := ui.NewForm(x.Styles, "save file", "enter saves · esc cancels",
		ui.NewField("path", download.Name(file.Name, data), "of the new file"))
	f.Submit = func(f *ui.Form) ui.Response {
		path := x.userPath(f.Value(0))
		if path == "" {
			return ui.Response{}
		}
		f.Sending()
		return ui.Response{Cmd: x.saveFile(f, path, data, download.Save)}
	}
	x.Overlays.Push(f)
	return nil
}

// askToReplace asks before a file is replaced.
func (x *Files) askToReplace(path string, data []byte) {
	f := ui.NewForm(x.Styles, transcript.CleanLine(path)+" exists", "type yes and enter · esc cancels",
		ui.NewField("replace it?", "", "yes"))
	f.Submit = func(f *ui.Form) ui.Response {
		if strings.TrimSpace(f.Value(0)) != "yes" {
			x.Commands.Status.Text = "not saved: " + path + " exists"
			return ui.Response{Close: true}
		}
		f.Sending()
		return ui.Response{Cmd: x.saveFile(f, path, data, download.Replace)}
	}
	x.Overlays.Push(f)
}

// saveFile saves a file and closes the form that asked for its name.
func (x *Files) saveFile(f *ui.Form, path string, data []byte, save func(string, []byte) error) tea.Cmd {
	return x.Commands.Run(func(context.Context) error { return save(path, data) }, func(err error) tea.Cmd {
		if !x.Overlays.Contains(f) {
			return x.Commands.Report(err)
		}
		switch {
		case errors.Is(err, fs.ErrExist):
			x.Overlays.Remove(f)
			x.askToReplace(path, data)
		case err != nil:
			f.Fail(err.Error(), "type another path")
		default:
			x.Overlays.Remove(f)
			x.Commands.Status.Text = "saved " + path + ", " + format.Count(len(data), "byte")
		}
		return nil
	})
}

// pushMenu shows a menu of texts with the status message below it. choose gets the index of the chosen
// one. does names what the key does.
func (x *Files) pushMenu(title, does string, texts []string, choose func(i int) tea.Cmd) {
	entries := make([]ui.Entry, len(texts))
	for i, text := range texts {
		entries[i] = ui.Entry{ID: strconv.Itoa(i), Text: text}
	}
	x.Overlays.Push(ui.NewMenu(x.Styles, ui.List[ui.Entry]{
		Title: x.Styles.Heading(title), Hint: x.Styles.ChooseHint(does),
		Status: func() string { return x.Commands.Status.Text },
		Rows:   func(string) []ui.Entry { return entries },
		Choose: func(e ui.Entry) ui.Response {
			return ui.Response{Close: true, Cmd: choose(slices.Index(entries, e))}
		},
	}))
}

// userPath returns a path that the user typed, with ~ replaced by the home directory.
func (x *Files) userPath(path string) string {
	path = strings.TrimSpace(path)
	if rest, ok := strings.CutPrefix(path, "~/"); ok && x.Home != "" {
		return filepath.Join(x.Home, rest)
	}
	return path
}
