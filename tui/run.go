package tui

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/task"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
)

// Options say how a session is shown. The zero value shows it on the terminal
// that the process has.
type Options struct {
	Input   io.Reader      // the keys; nil: standard input
	Output  io.Writer      // the screen; nil: standard output
	Env     []string       // of the terminal; nil: the process's
	Theme   Theme          // "": ThemeAuto
	Width   int            // of an output that is no terminal, in cells
	Height  int            // of it
	NoColor bool           // no colours, whatever the theme
	Mouse   bool           // take the mouse: the wheel scrolls, a click unfolds; the terminal's own selection then needs shift
	Zone    *time.Location // of times on the screen; nil: local
	Keep    int            // sessions that stay subscribed, with the one on the screen; 0: 3
	CWD     string         // of sessions that are created; "": the server's
	NoAlert bool           // neither ring nor notify while the terminal has no focus
	Keys    keymap.Keys    // other keys than the usual; see Keys.Check

	NoBell   bool // never ring
	NoNotify bool // never have the terminal show a notification
}

// ErrInterrupted ends a screen that SIGINT ended, which on a terminal no key sends.
var ErrInterrupted = errors.New("interrupted")

// Run shows the session until the person leaves or ctx ends. The terminal is
// left as it was, and the session goes on. SIGINT ends it with ErrInterrupted,
// the end of a terminal with ErrTerminalGone, a panic of the session with a
// *rescue.Error; who calls makes other signals end ctx.
func Run(ctx context.Context, s remote.Session, o Options) error {
	look, err := o.look()
	if err != nil {
		return err
	}
	work := task.NewRunner(ctx)
	m := newModel(s, work, look, time.Now, rand.Text)
	m.mouse, m.editor = o.Mouse, editorOf(o.environ())
	m.attention = o.attention()
	m.mux = multiplexerOf(o.environ())
	from := listen(&o)
	return from.stop(show(ctx, s, work, m, append(o.program(), from.option)...))
}

func (o Options) attention() attention {
	a := newAttention(o.terminal())
	a.silent = o.NoAlert
	return a
}

// look is how the options want things dressed, and keys named. Its error says
// which key cannot be as it was chosen.
func (o Options) look() (*look, error) {
	zone := o.Zone
	if zone == nil {
		zone = time.Local
	}
	keys, err := keymap.New(o.Keys)
	if err != nil {
		return nil, err
	}
	l := newLook(zone, o.Theme)
	l.keys = keys
	return l, nil
}

// terminal is what is known of the terminal, less what is not wanted of it.
func (o Options) terminal() terminal {
	t := terminalOf(o.environ())
	t.silent = o.NoBell
	if o.NoNotify {
		t.notifies = ringsOnly
	}
	return t
}

func (o Options) program() []tea.ProgramOption {
	var out []tea.ProgramOption
	if o.Input != nil {
		out = append(out, tea.WithInput(o.Input))
	}
	if o.Output != nil {
		out = append(out, tea.WithOutput(o.Output))
	}
	if o.Width > 0 && o.Height > 0 {
		out = append(out, tea.WithWindowSize(o.Width, o.Height))
	}
	env := o.environ()
	out = append(out, tea.WithEnvironment(env), tea.WithoutSignalHandler(), tea.WithFilter(interrupts))
	// Whatever NO_COLOR holds counts; the library only knows truth values.
	if o.NoColor || slices.ContainsFunc(env, func(v string) bool { return strings.HasPrefix(v, "NO_COLOR=") && v != "NO_COLOR=" }) {
		out = append(out, tea.WithColorProfile(colorprofile.ASCII))
	}
	return out
}

func (o Options) environ() []string {
	if o.Env == nil {
		return os.Environ()
	}
	return o.Env
}

// show runs the program, the pump and the errands, and returns when all of them
// have ended.
func show(ctx context.Context, s remote.Session, work *task.Runner, m tea.Model, options ...tea.ProgramOption) error {
	p := tea.NewProgram(m, append(options, tea.WithContext(ctx))...)
	broke := make(breakdown, 1)
	work.OnPanic = func(err error) { broke.tell(p, err) }
	pumped := make(chan struct{})
	go func() {
		defer close(pumped)
		broke.tell(p, task.Pump(work.Context(), s.Updates, func(b []remote.Update) { p.Send(batch(b)) }))
		p.Send(outMsg{})
	}()
	_, err := p.Run()
	work.Close()
	<-pumped
	return broke.or(ranOut(ctx, err))
}

// A breakdown holds the first panic of what a program works with.
type breakdown chan error

// tell notes a panic, if it is one, and ends the program.
func (b breakdown) tell(p *tea.Program, err error) {
	if err == nil {
		return
	}
	select {
	case b <- err:
		p.Quit()
	default: // the first counts
	}
}

// or is why a screen ended: the panic, else err.
func (b breakdown) or(err error) error {
	select {
	case why := <-b:
		return fmt.Errorf("run screen: %w", why)
	default:
		return err
	}
}

// ranOut is why a program ended, when it was not by a person or its context.
func ranOut(ctx context.Context, err error) error {
	switch {
	case err == nil || ctx.Err() != nil:
		return nil
	case errors.Is(err, tea.ErrInterrupted):
		return ErrInterrupted
	}
	return fmt.Errorf("run screen: %w", err)
}
