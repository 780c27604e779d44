package tour

import (
	"bufio"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"text/tabwriter"

	"agentctl/internal/agents"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/localagent"
	"agentctl/internal/cli/screen"
	"agentctl/internal/cli/verb"
	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/server/agent/script"
	"agentctl/tui"
	"agentctl/tui/tour"
	"agentctl/tui/ui"
)

// A tourScreen is the tour on a screen: two sessions, and a guide.
type tourScreen struct {
	options *tourOptions
	conn    *connection.Conn
	server  tourServer
	guide   *tour.Guide
}

// run shows the session until the user leaves for good, then lists the agents of this machine.
func (t *tourScreen) run(session string) error {
	data := protocol.CreateData{
		Name: "patch", Agent: "tour", Title: "A patch to review", Prompt: script.TourPatchMessage,
	}
	if _, err := connection.Call[protocol.CreateResult](t.conn, protocol.DoCreate, "", data); err != nil {
		return err
	}
	options := t.options.screenOptions()
	options.Tour = t.guide
	for {
		left := false
		options.Left = func(l tui.Left) {
			left = true
			session = l.Session
		}
		err := t.conn.Cause(verb.LeaveCause(t.conn.Context(), tui.RunDashboard(t.conn.Context(), t.server, t.id(session), options)))
		switch {
		case err != nil || !left:
			return err
		case !t.guide.Leave():
			t.options.writeEnd()
			return nil
		}
		t.options.CLI.Out.Notef("left %s, it continues. Press enter to return; in a shell: agentctl attach %[1]s", session)
		if !t.waitEnter() {
			t.options.writeEnd()
			return nil
		}
	}
}

// id returns the ID of a session by its name, or "".
func (t *tourScreen) id(session string) string {
	if session == "" {
		return ""
	}
	r, err := t.conn.Snapshot(session)
	if err != nil {
		return ""
	}
	return r.Snapshot.State.Session
}

// waitEnter waits for a line of the terminal. It reports false if the user interrupts instead.
func (t *tourScreen) waitEnter() bool {
	ctx, stop := signal.NotifyContext(t.conn.Context(), os.Interrupt)
	defer stop()
	line := make(chan error, 1)
	go func() {
		_, err := bufio.NewReader(t.options.CLI.Stdin).ReadString('\n')
		line <- err
	}()
	select {
	case err := <-line:
		return err == nil
	case <-ctx.Done():
		return false
	}
}

// Options returns the options of the screen, from the configuration and the flags.
func (o *tourOptions) screenOptions() tui.Options {
	options := screen.Options(o.CLI)
	if o.changed("mouse") {
		options.Mouse = o.Mouse
	}
	if o.changed("theme") {
		options.Theme = ui.Theme(o.Theme)
	}
	options.Size = o.size
	options.Composer.NoShell = true // the directory is made up
	return options
}

// writeEnd lists the agents that are installed on this machine, with the command that starts each.
func (o *tourOptions) writeEnd() {
	cli := o.CLI
	cli.Out.Notef("the tour has ended: agentctl new starts a session of your own")
	registry, err := localagent.Of(cli).Registry()
	if err != nil {
		cli.Out.Notef("agents: %s", err)
		return
	}
	inspector := localagent.Of(cli).Inspector(registry)
	inspector.LookPath = o.lookPath
	var found []agents.Installation
	for _, name := range registry.Names() {
		if r := inspector.Inspect(name); localagent.Readiness(&r) < 2 {
			found = append(found, r)
		}
	}
	slices.SortStableFunc(found, func(a, b agents.Installation) int { return localagent.Readiness(&a) - localagent.Readiness(&b) })
	out := cli.Out.Text()
	if len(found) == 0 {
		fmt.Fprintln(out, "No agent was found on this machine.\nagentctl agents lists them and how to install each.")
		return
	}
	fmt.Fprintln(out, "Agents found on this machine:")
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for i := range found {
		name := output.OneLine(found[i].Agent, 0)
		fmt.Fprintf(t, "  agentctl new --name try --agent %s && agentctl attach try\t%s\n", output.ShellWord(name),
			localagent.LoginText(&found[i]))
	}
	_ = t.Flush() // the writer of the program reports its own errors
}
