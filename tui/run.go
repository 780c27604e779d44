package tui

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
)

// Options say how a session is shown. The zero value shows it on the terminal
// that the process has.
type Options struct {
	Input   io.Reader // the keys; nil: standard input
	Output  io.Writer // the screen; nil: standard output
	Env     []string  // of the terminal; nil: the process's
	NoColor bool
	Zone    *time.Location // of times on the screen; nil: local
}

// Run shows the session until the person leaves or ctx ends. The terminal is
// left as it was. The session goes on.
func Run(ctx context.Context, s Session, o Options) error {
	return run(ctx, s, o)
}

func run(ctx context.Context, s Session, o Options, more ...tea.ProgramOption) error {
	work := newErrands(ctx)
	zone := o.Zone
	if zone == nil {
		zone = time.Local
	}
	options := []tea.ProgramOption{tea.WithContext(ctx)}
	if o.Input != nil {
		options = append(options, tea.WithInput(o.Input))
	}
	if o.Output != nil {
		options = append(options, tea.WithOutput(o.Output))
	}
	if o.Env != nil {
		options = append(options, tea.WithEnvironment(o.Env))
	}
	if o.NoColor {
		options = append(options, tea.WithColorProfile(colorprofile.ASCII))
	}
	p := tea.NewProgram(newModel(s, work, newLook(zone), time.Now, rand.Text), append(options, more...)...)

	pumped := make(chan struct{})
	go func() {
		defer close(pumped)
		pump(work.ctx, s, func(b batch) { p.Send(b) })
		p.Send(outMsg{})
	}()
	_, err := p.Run()
	work.close()
	<-pumped
	if err != nil && !(errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil) {
		return fmt.Errorf("run screen: %w", err)
	}
	return nil
}
