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
		Short: "See it work: a guided tour that needs no key",
		Long: `Run a server, a scripted agent and the screen in this one process: a session with everything in it, nothing installed, no key, no
network, and nothing left behind. Without a terminal the same session is played through as lines.`,
		Example: "  agentctl tour",
		Args:    takes(0, 0),
		RunE:    does(a, o, nil, run),
	}
	cmd.Flags().BoolVar(&o.Plain, "plain", false, "lines instead of a screen, played through")
	return cmd
}

// tourAgents knows the tour's agent alone.
type tourAgents struct{ *script.Script }

// Names lists it.
func (t tourAgents) Names() []string { return []string{"tour"} }

var _ session.Agents = tourAgents{}

func runTour(ctx context.Context, o *tourOptions) (err error) {
	if o.app.personalErr != nil {
		return o.app.personalErr
	}
	var interrupt []os.Signal // on a screen, which leaves by itself, it is no more than a key
	if o.lines() {
		interrupt = []os.Signal{os.Interrupt}
	}
	ctx, stop := untilSignal(ctx, interrupt...) // whatever ends it, nothing is left
	defer func() { err = cmp.Or(stop(), err) }()
	s, err := embedded.Start(ctx, embedded.Options{Agents: tourAgents{script.Tour()}, DefaultAgent: "tour", Version: programVersion()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return o.play(ctx, s)
}

// lines reports whether there is no screen.
func (o *tourOptions) lines() bool { return o.Plain || !o.app.onTerminal() }

// play shows the tour's session.
func (o *tourOptions) play(ctx context.Context, s *embedded.Server) error {
	a := o.app
	url, wire := "ws://"+embedded.Host, protolog.NewLog()
	c := wsclient.New(url, wsclient.Options{
		Dial: s.Dialer(url), Name: a.actor(), UserAgent: "agentctl " + programVersion(), NoRetryFirst: true, OnFrame: tapInto(wire),
	})
	if err := c.Connect(ctx); err != nil {
		_ = c.Close() // never fails
		return err
	}
	l := newLink(ctx, c, true)
	defer l.Close()
	made, err := ask[protocol.CreateResult](l, protocol.DoCreate, "", protocol.CreateData{Name: "tour", Agent: "tour", Title: "A tour of agentctl"})
	if err != nil {
		return err
	}
	for _, text := range script.TourMessages() { // the first starts, the others wait in the queue
		if _, err := ask[protocol.SendResult](l, protocol.DoSend, made.Session, protocol.SendData{Text: text}); err != nil {
			return err
		}
	}
	v := &view{client: c, session: made.Session, wire: wire}
	if !o.lines() {
		return l.reason(left(l.ctx, tui.Run(l.ctx, v, a.screen())))
	}
	g := &guide{view: v, turns: len(script.TourMessages())}
	err = left(l.ctx, tui.Plain(l.ctx, g, a.text(), strings.NewReader("")))
	return l.reason(errors.Join(err, g.err))
}
