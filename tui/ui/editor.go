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

// EditorCommand returns the user's editor as the environment names it.
func EditorCommand(env []string) string {
	vars := Environ(env)
	return cmp.Or(strings.TrimSpace(vars["VISUAL"]), strings.TrimSpace(vars["EDITOR"]), "vi")
}

// Editor runs the user's editor on a text. The editor has the terminal meanwhile. Its file can be read by
// the user alone and is removed afterwards.
type Editor struct {
	Context   context.Context
	Command   string // of the editor, as a shell reads it
	Extension string // of the file
	Text      string // before, and after Run

	stdin          io.Reader
	stdout, stderr io.Writer
}

var _ tea.ExecCommand = (*Editor)(nil)

// SetStdin sets the input of the editor.
func (e *Editor) SetStdin(r io.Reader) { e.stdin = terminalFile(r) }

// SetStdout sets the output of the editor.
func (e *Editor) SetStdout(w io.Writer) { e.stdout = w }

// SetStderr sets the error output of the editor.
func (e *Editor) SetStderr(w io.Writer) { e.stderr = w }

var errTooLong = errors.New("the edited text is too long to be sent")

// Run runs the editor and waits for its end.
func (e *Editor) Run() (err error) {
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
	run := e.process(file)
	run.Stdin, run.Stdout, run.Stderr = e.stdin, e.stdout, e.stderr
	if err = run.Run(); err != nil {
		return fmt.Errorf("editor %q: %w", e.Command, err)
	}
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return fmt.Errorf("edit: %w", err)
	case info.Size() > protocol.MaxEvent:
		return errTooLong
	}
	edited, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("edit: %w", err)
	}
	e.Text = protocol.ValidText(string(edited))
	return nil
}

// removeFile removes a file that the editor may have removed.
func removeFile(file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("edit: %w", err)
	}
	return nil
}

// process returns the editor's process. A shell reads the command, which may hold arguments and quotes.
func (e *Editor) process(file string) *exec.Cmd {
	if runtime.GOOS == "windows" {
		words := append(strings.Fields(e.Command), file)
		return exec.CommandContext(e.Context, words[0], words[1:]...)
	}
	return exec.CommandContext(e.Context, "sh", "-c", e.Command+` "$1"`, "sh", file)
}

// terminalFile returns the terminal behind a reader that wraps it.
func terminalFile(r io.Reader) io.Reader {
	if w, ok := r.(interface{ Unwrap() *os.File }); ok {
		return w.Unwrap()
	}
	return r
}
