package ui

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// FileEditor opens a file in the user's editor, which has the terminal until it exits.
type FileEditor struct {
	Context   context.Context
	Command   string   // shell syntax
	Arguments []string // added to the command, unchanged by the shell

	stdin          io.Reader
	stdout, stderr io.Writer
}

var _ tea.ExecCommand = (*FileEditor)(nil)

// SetStdin sets the standard input of the editor.
func (e *FileEditor) SetStdin(r io.Reader) { e.stdin = terminalFile(r) }

// SetStdout sets the standard output of the editor.
func (e *FileEditor) SetStdout(w io.Writer) { e.stdout = w }

// SetStderr sets the standard error of the editor.
func (e *FileEditor) SetStderr(w io.Writer) { e.stderr = w }

// Run runs the editor and waits for it to exit. The editor is killed when Context ends.
func (e *FileEditor) Run() error {
	var cmd *exec.Cmd
	if runtime.GOOS == "windows" {
		words := append(strings.Fields(e.Command), e.Arguments...)
		cmd = exec.CommandContext(e.Context, words[0], words[1:]...)
	} else {
		args := append([]string{"-c", e.Command + ` "$@"`, "sh"}, e.Arguments...)
		cmd = exec.CommandContext(e.Context, "sh", args...)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = e.stdin, e.stdout, e.stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("editor %q: %w", e.Command, err)
	}
	return nil
}
