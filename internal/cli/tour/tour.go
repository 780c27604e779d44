package tour

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/screen"
	"agentctl/internal/cli/verb"
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
	verb.Options

	Plain bool
	Mouse bool
	Theme string

	changed  func(flag string) bool // reports whether a flag was passed
	lookPath func(program string) (string, error)
	size     tui.Size    // of a screen that is no terminal
	hasLines func() bool // reports whether the tour is printed as lines
}

var tourVerb = verb.Verb{
	Use:   "tour",
	Short: "Take a guided tour, without setup or API key",
	Long: `Run a server, a scripted agent and the terminal UI in one process. A panel below the screen leads
through two sessions: it names a key and waits for it. Alt-K skips a step, Ctrl-C twice leaves. It
needs no API key or network, and leaves no files. Without a terminal, one session is printed as
lines.`,
	Example: "  agentctl tour\n  agentctl tour --theme light --mouse",
	Group:   verb.GroupStart,

	Do: &verb.Steps[tourOptions]{
		Flags: func(o *tourOptions, cmd *cobra.Command) {
			o.lookPath = exec.LookPath
			o.hasLines = func() bool { return o.Plain || !screen.HasTerminal(o.CLI) }
			o.changed = cmd.Flags().Changed
			cmd.Flags().BoolVar(&o.Plain, "plain", false, "run automatically and print lines")
			cmd.Flags().BoolVar(&o.Mouse, "mouse", false, "enable the mouse; select text with Shift")
			cmd.Flags().StringVar(&o.Theme, "theme", string(ui.ThemeAuto), "`NAME` of the colours, as for attach")
			verb.CompleteValues(cmd, "theme", config.Themes())
		},
		Read: func(o *tourOptions, _ []string) error {
			if !slices.Contains(ui.Themes(), ui.Theme(o.Theme)) {
				return exit.Usagef("invalid --theme %q: want %s", o.Theme, strings.Join(config.Themes(), ", "))
			}
			return nil
		},
		Run: runTour,
	},
}

// tourAgents has one agent: the tour's.
type tourAgents struct{ *script.Script }

// Names lists it.
func (t tourAgents) Names() []string { return []string{"tour"} }

var _ session.Agents = tourAgents{}

func runTour(ctx context.Context, o *tourOptions) (err error) {
	if o.CLI.UserErr != nil {
		return o.CLI.UserErr
	}
	var interrupt []os.Signal // on a screen, Ctrl-C is a key
	if o.hasLines() {
		interrupt = []os.Signal{os.Interrupt}
	}
	ctx, stop := verb.NotifySignal(ctx, interrupt...) // the server's files are removed after a signal too
	defer func() { err = cmp.Or(stop(), err) }()
	s, err := embedded.Start(ctx, embedded.Options{
		Agents: tourAgents{script.Tour()}, DefaultAgent: "tour",
		Version: o.CLI.Build.Version(),
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return o.play(ctx, s)
}

// play creates the tour's session and shows it.
func (o *tourOptions) play(ctx context.Context, s *embedded.Server) error {
	cli := o.CLI
	url := "ws://" + embedded.Host
	link := &tourLink{dial: s.Dialer(url)}
	client := wsclient.New(url, wsclient.Options{
		Dial: link.Dial, Name: cli.Flags.UserName(cli.Env), UserAgent: cli.Build.UserAgent(), NoRetryFirst: true,
	})
	if err := client.Connect(ctx); err != nil {
		_ = client.Close() // never fails
		return err
	}
	c := connection.New(ctx, client, true)
	defer c.Close()
	created, err := connection.Call[protocol.CreateResult](c, protocol.DoCreate, "",
		protocol.CreateData{Name: "tour", Agent: "tour", Title: "A tour of agentctl"})
	if err != nil {
		return err
	}
	for _, text := range script.TourMessages() { // the first one starts a turn, the others are queued
		if _, err := connection.Call[protocol.SendResult](c, protocol.DoSend, created.Session,
			protocol.SendData{Text: text}); err != nil {
			return err
		}
	}
	if !o.hasLines() {
		server := tourServer{screen.Server{Client: client}, link}
		return (&tourScreen{o, c, server, tour.NewGuide(link)}).run(created.Session)
	}
	adapter := &screen.Session{Client: client, Session: created.Session}
	u := &tourUser{Session: adapter, turns: len(script.TourMessages())}
	err = verb.LeaveCause(c.Context(), plain.Run(c.Context(), u, cli.Out.Text(), strings.NewReader(""), plain.Options{Columns: cli.Out.Columns}))
	return c.Cause(errors.Join(err, u.err))
}

// Verbs are the verbs of this package, in the order of the help.
var Verbs = []*verb.Verb{&tourVerb}
