package steer

import (
	"cmp"
	"fmt"
	"io"
	"strconv"

	"agentctl/internal/cli/call"
	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/verb"
	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/tui/describe"
)

var setVerb = verb.Verb{
	Use:   "set SESSION SETTING VALUE",
	Short: "Change a setting of the agent",
	Long: `Change a setting of the session's agent: mode, model, or another one that "agentctl options"
lists. It holds from the next message on, also after a restart of the agent or the server. SETTING and
VALUE are a name in any case, or an id. A value that the agent does not offer, or a name that several
choices have, is refused with the candidates.`,
	Example: "  agentctl set fix mode plan\n  agentctl set fix model opus",
	Group:   verb.GroupSteer, Sends: protocol.DoConfigure, Trial: "fix mode ask",
	Complete: completion.Setting,

	Do: &call.Command{
		Data: func(in *call.Input) (any, error) {
			return protocol.ConfigureData{Setting: in.Arg(0), Value: in.Arg(1)}, nil
		},
		Run: func(c *call.Call) error {
			if _, err := call.Send[protocol.Empty](c); err != nil {
				return err
			}
			set := c.Data.(protocol.ConfigureData)
			return c.CLI.Out.Print(set, func(w io.Writer) {
				fmt.Fprintf(w, "%s is %s\n", output.OneLine(set.Setting, 0), output.OneLine(set.Value, 0))
			})
		},
	},
}

var compactVerb = verb.Verb{
	Use:     "compact SESSION",
	Short:   "Compact the agent's context",
	Long:    "Compact the agent's context, and print its size before and after.",
	Example: "  agentctl compact fix",
	Group:   verb.GroupSteer, Sends: protocol.DoCompact, Trial: "fix",
	Complete: completion.Sessions,

	Do: &call.Command{
		Run: call.Print(func(w io.Writer, res *protocol.CompactResult) {
			tokens := func(n int64) string { return strconv.FormatInt(n, 10) }
			fmt.Fprintln(w, cmp.Or(describe.Compaction(&res.Compacted, tokens), "compacted"))
		}),
	},
}
