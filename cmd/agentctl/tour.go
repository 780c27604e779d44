package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"agentctl/protocol"
	"agentctl/server/agent/script"
	"agentctl/server/embedded"
	"agentctl/server/session"
	"agentctl/tui"
	"agentctl/tui/plain"
	"agentctl/tui/protolog"
	"agentctl/wsclient"
)

type tourOptions struct {
	app *app

	Plain bool
}

func newTour(a *app, run func(context.Context, *tourOptions) error) *cobra.Command {
	o := &tourOptions{app: a}
	cmd := &cobra.Command{
		Use:   "tour",
		Short: "Take a guided tour, without setup or API key",
		Long: `Run a server, a scripted agent and the terminal UI in one process: a session with
approvals, a queue, diffs and more. It needs no installation, API key or network, and leaves no
files. Without a terminal, the session runs by itself and is printed as lines.`,
		Example: "  agentctl tour",
		Args:    rangeArgs(0, 0),
		RunE:    runE(a, o, nil, run),
	}
	cmd.Flags().BoolVar(&o.Plain, "plain", false, "run by itself and print lines")
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
	if o.lines() {
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

// lines reports whether the tour is printed as lines.
func (o *tourOptions) lines() bool { return o.Plain || !o.app.hasScreen() }

// play creates the tour's session and shows it.
func (o *tourOptions) play(ctx context.Context, s *embedded.Server) error {
	a := o.app
	url, log := "ws://"+embedded.Host, protolog.NewLog()
	client := wsclient.New(url, wsclient.Options{
		Dial: s.Dialer(url), Name: a.userName(), UserAgent: "agentctl " +
			programVersion(), NoRetryFirst: true, OnFrame: logTap(log),
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
	adapter := &sessionAdapter{client: client, session: created.Session, protocolLog: log}
	if !o.lines() {
		options := a.screenOptions()
		options.Left = func(tui.Left) { a.notef("the tour has ended: agentctl new starts a session of your own") }
		options.Composer.NoShell = true // its directory is made up
		return c.cause(leaveCause(c.ctx, tui.Run(c.ctx, adapter, options)))
	}
	u := &tourUser{sessionAdapter: adapter, turns: len(script.TourMessages())}
	err = leaveCause(c.ctx, plain.Run(c.ctx, u, a.text(), strings.NewReader(""), a.columns))
	return c.cause(errors.Join(err, u.err))
}
