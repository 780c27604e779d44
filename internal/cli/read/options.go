package read

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"agentctl/internal/cli/call"
	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/verb"
	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/remote"
)

var optionsVerb = verb.Verb{
	Use:   "options SESSION",
	Short: "List the settings and commands of the agent",
	Long: `List the settings of the session's agent with their values and choices, and the commands that
the agent understands at the start of a message. "agentctl set" changes a setting. The second column
has the id of a setting or choice whose name is another; "set" takes both.`,
	Example: "  agentctl options fix\n  agentctl options fix -o json | jq -r '.settings[].id'",
	Group:   verb.GroupRead, Reads: true, Sends: protocol.DoSnapshot,
	Trial:    "fix",
	Complete: completion.Sessions,

	Do: &call.Command{Run: printOptions},
}

// An optionsResult is the output of options in JSON. Lists are never null.
type optionsResult struct {
	Agent    string                  `json:"agent,omitempty"`
	Version  string                  `json:"version,omitempty"`
	Settings []protocol.Setting      `json:"settings"`
	Commands []protocol.SlashCommand `json:"commands"`
}

func printOptions(c *call.Call) error {
	r, err := c.Snapshot()
	if err != nil {
		return err
	}
	known := r.Snapshot.State.Options
	if known == nil {
		known = &protocol.Options{}
		c.CLI.Out.Notef("%s", unknownOptions(r.Process))
	}
	result := optionsResult{known.Name, known.Version, output.NonNil(known.Settings), output.NonNil(known.Commands)}
	return c.CLI.Out.Print(result, result.write)
}

// named writes a row by name, with the id in the second column if it is another text.
func named(t io.Writer, indent, name, id, about string) {
	name = cmp.Or(name, id)
	if strings.EqualFold(name, id) {
		name, id = id, ""
	}
	fmt.Fprintf(t, "%s%s\t%s\t%s\n", indent, output.Cell(name, 40), output.Cell(id, 100), output.OneLine(about, 80))
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
		value := s.Value
		if c := describe.SettingChoice(&s, value); c != nil {
			value = cmp.Or(c.Label, c.ID)
		}
		named(t, "", s.Name, s.ID, "is "+cmp.Or(value, "not set"))
		for _, c := range s.Choices {
			named(t, "  ", c.Label, c.ID, c.About)
		}
	}
	for _, c := range r.Commands {
		fmt.Fprintf(t, "%s\t%s\t%s\n",
			output.Cell(remote.SlashCommand(c.Name), 40), output.Cell(c.Hint, 40), output.OneLine(c.About, 80))
	}
	_ = t.Flush() // w keeps its error
}
