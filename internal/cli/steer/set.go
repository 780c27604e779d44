package steer

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/internal/output"
	"agentctl/protocol"
)

type setOptions struct {
	cli *verb.Context

	Session string
	Setting string
	Value   string
}

var setVerb = verb.Verb{
	Name: "set", Group: verb.GroupSteer,
	Build: func(cli *verb.Context) *cobra.Command { return newSet(cli, runSet) },
	Sends: protocol.DoConfigure,
	Trial: "fix mode ask",
}

func newSet(cli *verb.Context, run func(context.Context, *setOptions) error) *cobra.Command {
	o := &setOptions{cli: cli}
	return &cobra.Command{
		Use:   "set SESSION SETTING VALUE",
		Short: "Change a setting of the agent",
		Long: `Change a setting of the session's agent: mode, model, or another one that "agentctl options"
lists. It holds from the next message on, also after a restart of the agent or the server. A value
that the agent does not offer is refused with the choices.`,
		Example:           "  agentctl set fix mode plan\n  agentctl set fix model opus",
		Args:              verb.RangeArgs(3, 3),
		ValidArgsFunction: completeSetting(cli),
		RunE: verb.RunE(cli, o, func(args []string) error {
			o.Session, o.Setting, o.Value = args[0], args[1], args[2]
			return nil
		}, run),
	}
}

func runSet(ctx context.Context, o *setOptions) error {
	data := protocol.ConfigureData{Setting: o.Setting, Value: o.Value}
	if _, err := connection.CallOnce[protocol.Empty](ctx, o.cli, protocol.DoConfigure, o.Session, data); err != nil {
		return err
	}
	return o.cli.Print(data, func(w io.Writer) {
		fmt.Fprintf(w, "%s is %s\n", output.OneLine(o.Setting, 0), output.OneLine(o.Value, 0))
	})
}

// completeSetting completes a session, then one of its settings, then a value of it.
func completeSetting(cli *verb.Context) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 2 {
			return nil, verb.NoFiles
		}
		session := args
		if len(args) > 1 {
			session = args[:1]
		}
		return completion.InSession(cli, func(s *protocol.State) []cobra.Completion {
			if len(args) > 1 {
				return choiceCompletions(s, args[1])
			}
			return settingCompletions(s)
		})(cmd, session, prefix)
	}
}

func settingCompletions(s *protocol.State) (found []cobra.Completion) {
	if s.Options == nil {
		return nil
	}
	for _, o := range s.Options.Settings {
		found = append(found, cobra.CompletionWithDesc(output.OneLine(o.ID, 0), output.OneLine(o.Value, 60)))
	}
	return found
}

func choiceCompletions(s *protocol.State, setting string) (found []cobra.Completion) {
	if s.Options == nil {
		return nil
	}
	for _, o := range s.Options.Settings {
		if o.ID != setting {
			continue
		}
		for _, c := range o.Choices {
			found = append(found, cobra.CompletionWithDesc(output.OneLine(c.ID, 0), output.OneLine(c.Label, 60)))
		}
	}
	return found
}
