package completion

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"agentctl/internal/agents"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/server/agent/acp"
	"agentctl/wsclient"
)

// Timeout bounds the time that a completion delays the shell.
const Timeout = time.Second

// Sessions completes the first argument with names of sessions, or ids of those without a
// name.
func Sessions(cli *verb.Context) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, verb.NoFiles
		}
		return withServer(cli, cmd, func(ctx context.Context, c *wsclient.Client) []cobra.Completion {
			list, err := wsclient.Call[protocol.ListResult](ctx, c, protocol.DoList, "", nil)
			if err != nil {
				return nil
			}
			var found []cobra.Completion
			for _, s := range list.Sessions {
				name := s.Name
				if name == "" || !strings.HasPrefix(name, prefix) {
					name = s.Session
				}
				found = append(found, described(name, string(s.Status)+" "+s.Title))
			}
			return found
		}), verb.NoFiles
	}
}

// InSession completes the first argument as Sessions does, and the second from the
// session's state.
func InSession(pick func(*protocol.State) []cobra.Completion) func(*verb.Context) cobra.CompletionFunc {
	return func(cli *verb.Context) cobra.CompletionFunc {
		sessions := Sessions(cli)
		return func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) != 1 {
				return sessions(cmd, args, prefix)
			}
			return withServer(cli, cmd, func(ctx context.Context, c *wsclient.Client) []cobra.Completion {
				r, err := wsclient.Call[protocol.SnapshotResult](ctx, c, protocol.DoSnapshot, args[0], nil)
				if err != nil || r.Snapshot.State == nil {
					return nil
				}
				return pick(r.Snapshot.State)
			}), verb.NoFiles
		}
	}
}

// SessionAndFile completes the first argument as Sessions does, and the second with files.
func SessionAndFile(cli *verb.Context) cobra.CompletionFunc {
	sessions := Sessions(cli)
	return func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) == 1 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return sessions(cmd, args, prefix)
	}
}

// None completes no argument.
func None(*verb.Context) cobra.CompletionFunc { return cobra.NoFileCompletions }

// withServer calls f with a connection if a server runs. It starts none.
func withServer(cli *verb.Context,
	cmd *cobra.Command, f func(context.Context, *wsclient.Client) []cobra.Completion,
) []cobra.Completion {
	if cli.ReadEnvironment() != nil {
		return nil
	}
	cli.Flags.NoStart = true
	ctx, cancel := context.WithTimeout(cmd.Context(), Timeout)
	defer cancel()
	c, err := connection.Open(ctx, cli)
	if err != nil {
		return nil
	}
	defer c.Close()
	return f(ctx, c.Client)
}

// Agents completes with the agents of the server, or the presets if none runs.
func Agents(cli *verb.Context) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		names := withServer(cli, cmd, func(_ context.Context, c *wsclient.Client) []cobra.Completion {
			return c.Hello().Agents
		})
		if len(names) == 0 {
			names = (&agents.Registry{}).Names()
		}
		return append(names, acp.Scheme, agents.LLMScheme, agents.ScriptScheme), verb.NoFiles | cobra.ShellCompDirectiveNoSpace
	}
}

// described completes with an id and its description, both from a server.
func described(id, about string) cobra.Completion {
	return cobra.CompletionWithDesc(output.OneLine(id, 0), output.OneLine(about, 60))
}

// Messages returns the queued and the scheduled messages.
func Messages(s *protocol.State) (found []cobra.Completion) {
	for _, m := range slices.Concat(s.Queue, s.Scheduled) {
		found = append(found, described(m.MessageID, m.Text))
	}
	return found
}

// Unfinished returns the messages whose turns have not ended.
func Unfinished(s *protocol.State) []cobra.Completion {
	found := Messages(s)
	if s.Turn != nil {
		found = append(found, described(s.Turn.Message.MessageID, s.Turn.Message.Text))
	}
	return found
}

// Turns returns the current turn, or the last one.
func Turns(s *protocol.State) []cobra.Completion {
	switch {
	case s.Turn != nil:
		return []cobra.Completion{described(s.Turn.Turn, s.Turn.Message.Label())}
	case s.Last != nil:
		return []cobra.Completion{described(s.Last.Turn, string(s.Last.Reason))}
	}
	return nil
}

// Requests returns the pending requests.
func Requests(s *protocol.State) (found []cobra.Completion) {
	for i := range s.Approvals {
		found = append(found, described(s.Approvals[i].Request, s.Approvals[i].Title))
	}
	return found
}

// Holds returns the holds of the queue.
func Holds(s *protocol.State) (found []cobra.Completion) {
	for _, h := range s.Holds {
		found = append(found, described(h.ID, h.Reason+" by "+output.Actor(h.By)))
	}
	return found
}

// Rules returns the rules of the session.
func Rules(s *protocol.State) (found []cobra.Completion) {
	for i := range s.Rules {
		found = append(found, described(s.Rules[i].ID, s.Rules[i].Scope))
	}
	return found
}

// Tasks returns the tasks of the plan.
func Tasks(s *protocol.State) (found []cobra.Completion) {
	if s.Plan != nil {
		for _, t := range s.Plan.Tasks {
			found = append(found, described(t.ID, t.Title))
		}
	}
	return found
}

// Setting completes a session, then one of its settings, then a value of it.
func Setting(cli *verb.Context) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 2 {
			return nil, verb.NoFiles
		}
		return InSession(func(s *protocol.State) (found []cobra.Completion) {
			if s.Options == nil {
				return nil
			}
			for _, o := range s.Options.Settings {
				if len(args) < 2 {
					found = append(found, described(o.ID, o.Value))
				} else if o.ID == args[1] {
					for _, c := range o.Choices {
						found = append(found, described(c.ID, c.Label))
					}
				}
			}
			return found
		})(cli)(cmd, args[:min(len(args), 1)], prefix)
	}
}
