package ui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
)

// EditorCommand returns the command of the user's editor: $VISUAL, $EDITOR or vi.
func EditorCommand(env []string) string {
	vars := Environ(env)
	return cmp.Or(strings.TrimSpace(vars["VISUAL"]), strings.TrimSpace(vars["EDITOR"]), "vi")
}

// EditIntent asks the screen to edit a text in the user's editor. The functions are called in the event
// loop.
type EditIntent struct {
	Extension string // of the file; "": the text is one line
	Text      string
	Returned  func()            // called when the editor has returned, before Done; may be nil
	Done      func(text string) // gets the edited text, unless the editor has failed
}

// EditedMsg carries the result of an [EditIntent] back to its screen.
type EditedMsg struct {
	intent EditIntent
	text   string
	err    error
}

// Editor runs the user's editor, which has the terminal until it exits. With an Extension it edits
// Text, in a temporary file that only the user can read and that is removed afterwards.
type Editor struct {
	Context   context.Context
	Command   string   // shell syntax
	Arguments []string // added to the command, unchanged by the shell
	Extension string   // of the temporary file; "": none
	Text      string   // the input; after Run, the edited text

	stdin          io.Reader
	stdout, stderr io.Writer
}

var _ tea.ExecCommand = (*Editor)(nil)

// SetStdin sets the standard input of the editor.
func (e *Editor) SetStdin(r io.Reader) { e.stdin = terminalFile(r) }

// SetStdout sets the standard output of the editor.
func (e *Editor) SetStdout(w io.Writer) { e.stdout = terminalFile(w) }

// SetStderr sets the standard error of the editor.
func (e *Editor) SetStderr(w io.Writer) { e.stderr = terminalFile(w) }

var errTextTooLong = errors.New("the edited text is too long to be sent")

// Run runs the editor and waits for it to exit. The editor is killed when Context ends.
func (e *Editor) Run() error {
	if e.Extension != "" {
		return e.editText()
	}
	return e.run(e.Arguments...)
}

// run runs the editor with arguments.
func (e *Editor) run(arguments ...string) error {
	cmd := e.process(arguments)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = e.stdin, e.stdout, e.stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("editor %q: %w", e.Command, err)
	}
	return nil
}

// editText edits Text in a temporary file.
func (e *Editor) editText() (err error) {
	f, err := os.CreateTemp("", "agentctl-*."+e.Extension) // mode 0600
	if err != nil {
		return fmt.Errorf("edit: %w", err)
	}
	file := f.Name()
	defer func() { err = errors.Join(err, removeFile(file)) }()
	text := e.Text
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	_, err = io.WriteString(f, text)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("edit: %w", err)
	}
	if err = e.run(append(e.Arguments, file)...); err != nil {
		return err
	}
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return fmt.Errorf("edit: %w", err)
	case info.Size() > protocol.MaxEvent:
		return errTextTooLong
	}
	edited, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("edit: %w", err)
	}
	e.Text = protocol.ValidText(string(edited))
	return nil
}

// removeFile removes a file. A missing file is not an error: the editor may have removed it.
func removeFile(file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("edit: %w", err)
	}
	return nil
}

// process returns the editor's process. Except on Windows a shell parses the command, which may
// hold arguments and quotes.
func (e *Editor) process(arguments []string) *exec.Cmd {
	if runtime.GOOS == "windows" {
		words := append(strings.Fields(e.Command), arguments...)
		return exec.CommandContext(e.Context, words[0], words[1:]...)
	}
	arguments = append([]string{"-c", e.Command + ` "$@"`, "sh"}, arguments...)
	return exec.CommandContext(e.Context, "sh", arguments...)
}

// terminalFile returns the file that a reader or writer wraps, or itself. A process gets a file as
// it is, and a pipe for everything else.
func terminalFile[T any](stream T) T {
	if w, ok := any(stream).(interface{ Unwrap() *os.File }); ok {
		if file, ok := any(w.Unwrap()).(T); ok {
			return file
		}
	}
	return stream
}
