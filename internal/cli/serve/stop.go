package serve

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/internal/localserver"
	"agentctl/protocol"
)

type stopOptions struct {
	verb.Options

	WhenIdle bool
}

var stopVerb = verb.Verb{
	Use:   "stop",
	Short: "Stop the local server",
	Long: `Stop the server of the data directory and wait until it has ended. Running turns are
ended; sessions, queues and transcripts are there when it starts again. It is no error if no server
runs. With --when-idle, it first waits until no turn runs and no queued message is about to start;
held queues and open approvals of idle sessions do not count.`,
	Example: "  agentctl stop\n  agentctl stop --when-idle --timeout 1h",
	Group:   verb.GroupServer, Place: verb.DataDirectory,

	Do: &verb.Steps[stopOptions]{
		Flags: func(o *stopOptions, cmd *cobra.Command) {
			cmd.Flags().BoolVar(&o.WhenIdle, "when-idle", false, "wait until no turn runs")
		},
		Run: runStop,
	},
}

func runStop(ctx context.Context, o *stopOptions) error {
	dir := o.CLI.Dir
	result := struct {
		Stopped bool `json:"stopped"`
		PID     int  `json:"pid,omitempty"`
	}{PID: dir.Holder()}
	if result.PID != 0 {
		if err := connection.RequireUser(ctx, o.CLI, "stop the server"); err != nil {
			return err
		}
		if o.WhenIdle {
			if err := o.waitIdle(ctx, dir); err != nil {
				return err
			}
		}
		result.Stopped = true
		if err := dir.Stop(ctx, result.PID); err != nil {
			return err
		}
	}
	return o.CLI.Out.Print(result, func(w io.Writer) {
		if result.Stopped {
			fmt.Fprintf(w, "stopped the server with pid %d\n", result.PID)
		} else {
			fmt.Fprintf(w, "no server runs on %s\n", dir)
		}
	})
}

// waitIdle waits until no turn runs on the server of the data directory, or the server has ended.
func (o *stopOptions) waitIdle(ctx context.Context, dir localserver.Dir) error {
	o.CLI.Flags.Server, o.CLI.Flags.Dialect = dir.SocketURL(), ""
	c, err := connection.OpenWith(ctx, o.CLI, connection.Unbounded)
	if err != nil {
		return err
	}
	defer c.Close()
	tick := time.NewTicker(10 * localserver.PollInterval)
	defer tick.Stop()
	for noted := false; ; {
		list, err := connection.Call[protocol.ListResult](c, protocol.DoList, "", nil)
		if err != nil {
			return err
		}
		running := slices.DeleteFunc(list.Sessions, func(s protocol.Summary) bool { return s.Turn == "" })
		if len(running) == 0 {
			return nil
		}
		if !noted {
			o.CLI.Out.Notef("waiting for the turns of %d sessions", len(running))
			noted = true
		}
		select {
		case <-c.Context().Done():
			return context.Cause(c.Context())
		case <-tick.C:
		}
	}
}
