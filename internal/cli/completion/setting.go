package completion

import (
	"github.com/spf13/cobra"

	"agentctl/internal/cli/verb"
	"agentctl/internal/output"
	"agentctl/protocol"
)

// Setting completes a session, then one of its settings, then a value of it.
func Setting(cli *verb.Context) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 2 {
			return nil, verb.NoFiles
		}
		session := args
		if len(args) > 1 {
			session = args[:1]
		}
		return InSession(func(s *protocol.State) []cobra.Completion {
			if len(args) > 1 {
				return choices(s, args[1])
			}
			return settings(s)
		})(cli)(cmd, session, prefix)
	}
}

func settings(s *protocol.State) (found []cobra.Completion) {
	if s.Options == nil {
		return nil
	}
	for _, o := range s.Options.Settings {
		found = append(found, cobra.CompletionWithDesc(output.OneLine(o.ID, 0), output.OneLine(o.Value, 60)))
	}
	return found
}

func choices(s *protocol.State, setting string) (found []cobra.Completion) {
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
