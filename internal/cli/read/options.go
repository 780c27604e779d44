package read

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/tui/remote"
)

type agentOptionsOptions struct {
	verb.Options

	Session string
}

var optionsVerb = verb.Verb{
	Use:   "options SESSION",
	Short: "List the settings and commands of the agent",
	Long: `List the settings of the session's agent with their values and choices, and the commands that
the agent understands at the start of a message. "agentctl set" changes a setting.`,
	Example: "  agentctl options fix\n  agentctl options fix -o json | jq -r '.settings[].id'",
	Group:   verb.GroupRead, Reads: true, Sends: protocol.DoSnapshot,
	Trial:    "fix",
	Complete: completion.Sessions,

	Do: &verb.Steps[agentOptionsOptions]{
		Read: func(o *agentOptionsOptions, args []string) error { o.Session = args[0]; return nil },
		Run:  runAgentOptions,
	},
}

// An optionsResult is the output of options in JSON. Lists are never null.
type optionsResult struct {
	Agent    string                  `json:"agent,omitempty"`
	Version  string                  `json:"version,omitempty"`
	Settings []protocol.Setting      `json:"settings"`
	Commands []protocol.SlashCommand `json:"commands"`
}

func runAgentOptions(ctx context.Context, o *agentOptionsOptions) error {
	r, err := connection.Snapshot(ctx, o.CLI, o.Session)
	if err != nil {
		return err
	}
	known := r.Snapshot.State.Options
	if known == nil {
		known = &protocol.Options{}
		o.CLI.Out.Notef("%s", unknownOptions(r.Process))
	}
	result := optionsResult{known.Name, known.Version, output.NonNil(known.Settings), output.NonNil(known.Commands)}
	return o.CLI.Out.Print(result, result.write)
}

// unknownOptions says why a session has no options yet.
func unknownOptions(p *protocol.AgentProcess) string {
	switch {
	case p == nil:
		return "the agent has no settings and commands"
	case p.Phase == protocol.ProcessStarting:
		return "not known yet: the agent is starting"
	case p.Phase == protocol.ProcessRunning:
		return "the agent reported no settings and commands"
	}
	return "not known yet: the agent starts with the next message"
}

func (r *optionsResult) write(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, s := range r.Settings {
		fmt.Fprintf(t, "%s\t%s\t%s\n", output.Cell(s.ID, 40), output.Cell(s.Value, 40), output.OneLine(s.Name, 60))
		for _, c := range s.Choices {
			about := c.Label
			if c.About != "" {
				about += ": " + c.About
			}
			fmt.Fprintf(t, "\t  %s\t%s\n", output.Cell(c.ID, 40), output.OneLine(about, 80))
		}
	}
	for _, c := range r.Commands {
		fmt.Fprintf(t, "%s\t%s\t%s\n",
			output.Cell(remote.SlashCommand(c.Name), 40), output.Cell(c.Hint, 40), output.OneLine(c.About, 80))
	}
	_ = t.Flush() // w keeps its error
}
