package tui

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
	"agentctl/tui/transcript"
)

// editorOf is the person's editor, as the environment says.
func editorOf(env []string) string {
	vars := variables(env)
	return cmp.Or(strings.TrimSpace(vars["VISUAL"]), strings.TrimSpace(vars["EDITOR"]), "vi")
}

// editing is a text in the person's editor, which has the terminal meanwhile. Its
// file is nobody else's and is gone afterwards.
type editing struct {
	ctx     context.Context
	command string // of the editor, as a shell reads it
	kind    string // the file's extension
	text    string // before, and after

	stdin          io.Reader
	stdout, stderr io.Writer
}

var _ tea.ExecCommand = (*editing)(nil)

func (e *editing) SetStdin(r io.Reader)  { e.stdin = bare(r) }
func (e *editing) SetStdout(w io.Writer) { e.stdout = w }
func (e *editing) SetStderr(w io.Writer) { e.stderr = w }

var errTooLong = errors.New("the edited text is too long to be sent")

// Run lets the person edit until the editor ends.
func (e *editing) Run() (err error) {
	f, err := os.CreateTemp("", "agentctl-*."+e.kind) // mode 0600
	if err != nil {
		return fmt.Errorf("edit: %w", err)
	}
	file := f.Name()
	defer func() { err = errors.Join(err, remove(file)) }()
	text := e.text
	if !strings.HasSuffix(text, "\n") {
		text += "\n" // as a text file ends
	}
	_, err = io.WriteString(f, text)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("edit: %w", err)
	}
	run := e.process(file)
	run.Stdin, run.Stdout, run.Stderr = e.stdin, e.stdout, e.stderr
	if err = run.Run(); err != nil {
		return fmt.Errorf("editor %q: %w", e.command, err)
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
	e.text = protocol.ValidText(string(edited))
	return nil
}

// remove removes a file that the editor may have taken away.
func remove(file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("edit: %w", err)
	}
	return nil
}

// process is the editor on a file. A shell reads the command, for it may hold
// arguments and quotes.
func (e *editing) process(file string) *exec.Cmd {
	if runtime.GOOS == "windows" {
		words := append(strings.Fields(e.command), file)
		return exec.CommandContext(e.ctx, words[0], words[1:]...)
	}
	return exec.CommandContext(e.ctx, "sh", "-c", e.command+` "$1"`, "sh", file)
}

// editedMsg is what a person made of a text; then runs in the event loop.
type editedMsg struct {
	text string
	err  error
	then func(string)
}

// editText has the person edit a text in their editor.
func (m *model) editText(kind, text string, then func(string)) tea.Cmd {
	e := &editing{ctx: m.errands.Context(), command: m.editor, kind: kind, text: text}
	return m.exec(e, func(err error) tea.Msg { return m.errands.Wrap(editedMsg{e.text, err, then}) })
}

func (m *model) edited(msg editedMsg) {
	if msg.err != nil {
		m.word = msg.err.Error()
		return
	}
	msg.then(msg.text)
}

// compose has the person write the message in their editor.
func (m *model) compose() tea.Cmd {
	m.setFocus(onComposer)
	return m.editText("md", m.composer.area.Value(), func(text string) {
		m.composer.write(strings.TrimRight(transcript.Clean(text), "\n"))
	})
}
