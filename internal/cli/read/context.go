package read

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"agentctl/internal/cli/call"
	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/verb"
	"agentctl/internal/format"
	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/tui/describe"
)

var contextVerb = verb.Verb{
	Use:   "context SESSION",
	Short: "Show the usage of the agent's context",
	Long: "Show how much of the agent's context is used, what takes the room if the\n" +
		"agent reports it, the tokens of the session so far, and the usage limits of\n" +
		"the agent's account if it reports them.",
	Example: "  agentctl context fix -o json | jq .context.percent",
	Group:   verb.GroupRead, Reads: true, Sends: protocol.DoContext,
	Trial:    "fix",
	Complete: completion.Sessions,

	Do: &call.Command{Run: call.Print(writeContext)},
}

// contextText returns what is known of the usage of a context.
func contextText(c *protocol.ContextInfo) string {
	text := strings.Join(describe.Context(c, count), ", ")
	if percent, ok := describe.ContextPercent(c); ok {
		text = strings.TrimSpace(format.Percent(percent) + "  " + text)
	}
	return text
}

// count formats a count of tokens.
func count(n int64) string { return strconv.FormatInt(n, 10) }

func writeContext(w io.Writer, res *protocol.ContextResult) {
	fmt.Fprintln(w, contextText(&res.Context))
	for _, p := range res.Parts {
		fmt.Fprintf(w, "  %-13s %d tokens\n", p.Name, p.Tokens)
	}
	if u := res.Usage; u != nil {
		u = &protocol.Usage{Input: u.Input, Output: u.Output}
		if used := describe.Usage(u, count); len(used) > 0 {
			fmt.Fprintf(w, "used  %s\n", strings.Join(used, ", "))
		}
	}
	for i := range res.Limits {
		fmt.Fprintf(w, "limit %s\n", describe.Window(&res.Limits[i], output.LocalTime))
	}
}
