package sessions

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/call"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/protocol"
)

// calls are the verbs that send one command.
var calls = call.Table{
	{
		Verb:  verb.Verb{Group: verb.GroupSession, Sends: protocol.DoRename, Trial: "fix fix"},
		Use:   "rename SESSION [NAME]",
		Short: "Rename a session",
		Long: "Set the name of a session, which must be unique, or its title. An empty NAME " +
			"removes the name.",
		Example: "  agentctl rename 01j9 fix\n  agentctl rename fix --title \"Login fails on Safari\"",
		Flags:   func(cmd *cobra.Command) { cmd.Flags().String("title", "", "new title `TEXT`") },
		Data: func(in *call.Input) (any, error) {
			var data protocol.RenameData
			if len(in.Args) > 0 {
				data.Name = &in.Args[0]
			}
			if in.Flags.Changed("title") {
				title := in.String("title")
				data.Title = &title
			}
			if data.Name == nil && data.Title == nil {
				return nil, exit.Usagef("no change: pass NAME or --title")
			}
			return data, nil
		},
	},
	{
		Verb:  verb.Verb{Group: verb.GroupSession, Sends: protocol.DoFork, Trial: "fix"},
		Use:   "fork SESSION",
		Short: "Make a new session from the turns of another",
		Long: `Make a session that has the turns of another, its agent, directory and variables, and print
its id. The other session stays as it is. With --turn the new one ends with that turn, with --before
it ends before it. A turn is its id, or a number counted from 1. Files are not copied: both sessions
work in the same directory.

Of turns that the agent has summarized, the new session gets the transcript as text.`,
		Example: "  agentctl fork fix --before 3 --name fix-again",
		Key:     true,
		Flags: func(cmd *cobra.Command) {
			f := cmd.Flags()
			f.String("turn", "", "last `TURN` of the new session")
			f.String("before", "", "first `TURN` that the new session lacks")
			f.String("name", "", "unique `NAME` of the new session")
			cmd.MarkFlagsMutuallyExclusive("turn", "before")
		},
		Data: func(in *call.Input) (any, error) {
			data := protocol.ForkData{Turn: in.String("turn"), Name: in.String("name")}
			if before := in.String("before"); before != "" {
				data.Turn, data.Before = before, true
			}
			return data, nil
		},
		Run: call.Print(func(w io.Writer, res *protocol.CreateResult) { fmt.Fprintln(w, res.Session) }),
	},
	{
		Verb:  verb.Verb{Sends: protocol.DoExport, Trial: "fix"},
		Use:   "state export SESSION",
		Short: "Export the signed state of a session",
		Long: `Print the state of a session, signed by its server, as one line of JSON. It has the agent with its
memory, the queue, and the newest finished turns, as many as fit 512 KiB. It has no rules, no
environment and no blobs. It is signed, not encrypted.`,
		Example: "  agentctl state export fix >fix.state",
		Run: func(c *call.Call) error {
			res, err := call.Send[protocol.ExportResult](c)
			if err != nil {
				return err
			}
			if !c.CLI.JSON() {
				c.CLI.Notef("valid until %s", res.Expires.Local().Format(time.DateTime))
			}
			return c.CLI.Printer().PrintJSON(res.State)
		},
	},
}
