package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"agentctl/internal/config"
	"agentctl/internal/exit"
	"agentctl/protocol"
	"agentctl/server/agent/script"
	"agentctl/server/embedded"
	"agentctl/server/session"
	"agentctl/tui"
	"agentctl/tui/plain"
	"agentctl/tui/tour"
	"agentctl/tui/ui"
	"agentctl/wsclient"
)

type tourOptions struct {
	app *app

	Plain bool
	Mouse bool
	Theme string

	changed  func(flag string) bool // reports whether a flag was passed
	lookPath func(program string) (string, error)
	size     tui.Size    // of a screen that is no terminal
	hasLines func() bool // reports whether the tour is printed as lines
}

func newTour(a *app, run func(context.Context, *tourOptions) error) *cobra.Command {
	o := &tourOptions{app: a, lookPath: exec.LookPath}
	o.hasLines = func() bool { return o.Plain || !a.hasScreen() }
	cmd := &cobra.Command{
		Use:   "tour",
		Short: "Take a guided tour, without setup or API key",
		Long: `Run a server, a scripted agent and the terminal UI in one process. A panel below the
screen leads through two sessions: it names a key, waits for it and goes on. Alt-K skips a step,
Ctrl-C twice leaves. At the end it lists the agents found on this machine, with the command for
each. It needs no API key or network, and leaves no files.

Without a terminal, one session runs by itself and is printed as lines.`,
		Example: "  agentctl tour\n  agentctl tour --theme light --mouse",
		Args:    rangeArgs(0, 0),
		RunE: runE(a, o, func([]string) error {
			if !slices.Contains(ui.Themes(), ui.Theme(o.Theme)) {
				return exit.Usagef("invalid --theme %q: want %s", o.Theme, strings.Join(config.Themes(), ", "))
			}
			return nil
		}, run),
	}
	o.changed = cmd.Flags().Changed
	cmd.Flags().BoolVar(&o.Plain, "plain", false, "run by itself and print lines")
	cmd.Flags().BoolVar(&o.Mouse, "mouse", false, "enable the mouse; select text with Shift")
	cmd.Flags().StringVar(&o.Theme, "theme", string(ui.ThemeAuto), "`NAME` of the colours, as those of attach")
	completeValues(cmd, "theme", config.Themes())
	return cmd
}

// tourAgents has one agent: the tour's.
type tourAgents struct{ *script.Script }

// Names lists it.
func (t tourAgents) Names() []string { return []string{"tour"} }

var _ session.Agents = tourAgents{}

func runTour(ctx context.Context, o *tourOptions) (err error) {
	if o.app.userConfigErr != nil {
		return o.app.userConfigErr
	}
	var interrupt []os.Signal // on a screen, Ctrl-C is a key
	if o.hasLines() {
		interrupt = []os.Signal{os.Interrupt}
	}
	ctx, stop := notifySignal(ctx, interrupt...) // the server's files are removed after a signal too
	defer func() { err = cmp.Or(stop(), err) }()
	s, err := embedded.Start(ctx, embedded.Options{
		Agents: tourAgents{script.Tour()}, DefaultAgent: "tour",
		Version: programVersion(),
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return o.play(ctx, s)
}

// play creates the tour's session and shows it.
func (o *tourOptions) play(ctx context.Context, s *embedded.Server) error {
	a := o.app
	url := "ws://" + embedded.Host
	link := &tourLink{dial: s.Dialer(url)}
	client := wsclient.New(url, wsclient.Options{
		Dial: link.Dial, Name: a.userName(), UserAgent: "agentctl " +
			programVersion(), NoRetryFirst: true,
	})
	if err := client.Connect(ctx); err != nil {
		_ = client.Close() // never fails
		return err
	}
	c := newConnection(ctx, client, true)
	defer c.Close()
	created, err := call[protocol.CreateResult](c, protocol.DoCreate, "",
		protocol.CreateData{Name: "tour", Agent: "tour", Title: "A tour of agentctl"})
	if err != nil {
		return err
	}
	for _, text := range script.TourMessages() { // the first one starts a turn, the others are queued
		if _, err := call[protocol.SendResult](c, protocol.DoSend, created.Session,
			protocol.SendData{Text: text}); err != nil {
			return err
		}
	}
	if !o.hasLines() {
		server := tourServer{serverAdapter{client: client}, link}
		return (&tourScreen{o, c, server, tour.NewGuide(link)}).run(created.Session)
	}
	adapter := &sessionAdapter{client: client, session: created.Session}
	u := &tourUser{sessionAdapter: adapter, turns: len(script.TourMessages())}
	err = leaveCause(c.ctx, plain.Run(c.ctx, u, a.text(), strings.NewReader(""), plain.Options{Columns: a.columns}))
	return c.cause(errors.Join(err, u.err))
}
