package sessions

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/call"
	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/verb"
	"agentctl/protocol"
)

var forkVerb = verb.Verb{
	Use:   "fork SESSION",
	Short: "Make a new session from the turns of another",
	Long: `Make a session with the turns of another, its agent, directory and variables, and print its id. With
--turn the new one ends with that turn, with --before it ends before it; a turn is its id, or a
number counted from 1. Files are not copied: both sessions work in the same directory. Summarized
turns become text.`,
	Example: "  agentctl fork fix --before 3 --name fix-again",
	Group:   verb.GroupSession, Sends: protocol.DoFork, Trial: "fix",
	Complete: completion.Sessions,

	Do: &call.Command{
		Key: true,
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
}
