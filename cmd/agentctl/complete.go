package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"agentctl/protocol"
	"agentctl/server/agent/acp"
	"agentctl/wsclient"
)

// completionPatience is how long a shell may hang at a key press.
const completionPatience = time.Second

const noFiles = cobra.ShellCompDirectiveNoFileComp

// sessions completes the first argument with names of sessions.
func (a *app) sessions(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, noFiles
	}
	return a.running(cmd, func(ctx context.Context, c *wsclient.Client) []cobra.Completion {
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
			found = append(found, cobra.CompletionWithDesc(oneLine(name, 0), oneLine(string(s.Status)+" "+s.Title, 60)))
		}
		return found
	}), noFiles
}

// within completes the first argument as sessions does, and the second with what a session's state holds.
func (a *app) within(pick func(*protocol.State) []cobra.Completion) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) != 1 {
			return a.sessions(cmd, args, prefix)
		}
		return a.running(cmd, func(ctx context.Context, c *wsclient.Client) []cobra.Completion {
			r, err := wsclient.Call[protocol.SnapshotResult](ctx, c, protocol.DoSnapshot, args[0], nil)
			if err != nil || r.Snapshot.State == nil {
				return nil
			}
			return pick(r.Snapshot.State)
		}), noFiles
	}
}

// running asks the server, if one runs: completion never starts one.
func (a *app) running(cmd *cobra.Command, ask func(context.Context, *wsclient.Client) []cobra.Completion) []cobra.Completion {
	if a.readEnvironment() != nil {
		return nil
	}
	a.flags.NoStart = true
	ctx, cancel := context.WithTimeout(cmd.Context(), completionPatience)
	defer cancel()
	l, err := a.connect(ctx)
	if err != nil {
		return nil
	}
	defer l.Close()
	return ask(ctx, l.Client)
}

// agents completes the agents that the server can run; the presets, when none runs.
func (a *app) agents(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	names := a.running(cmd, func(_ context.Context, c *wsclient.Client) []cobra.Completion { return c.Hello().Agents })
	if len(names) == 0 {
		names = (&roster{}).Names()
	}
	return append(names, acp.Scheme, schemeScript), noFiles | cobra.ShellCompDirectiveNoSpace
}

func queuedMessages(s *protocol.State) (found []cobra.Completion) {
	for i := range s.Queue {
		found = append(found, cobra.CompletionWithDesc(s.Queue[i].MessageID, oneLine(s.Queue[i].Text, 60)))
	}
	return found
}

func pendingRequests(s *protocol.State) (found []cobra.Completion) {
	for i := range s.Approvals {
		found = append(found, cobra.CompletionWithDesc(oneLine(s.Approvals[i].Request, 0), oneLine(s.Approvals[i].Title, 60)))
	}
	return found
}

func holds(s *protocol.State) (found []cobra.Completion) {
	for _, h := range s.Holds {
		found = append(found, cobra.CompletionWithDesc(h.ID, h.Reason+" by "+actor(h.By)))
	}
	return found
}

func rules(s *protocol.State) (found []cobra.Completion) {
	for i := range s.Rules {
		found = append(found, cobra.CompletionWithDesc(s.Rules[i].ID, oneLine(s.Rules[i].Scope, 60)))
	}
	return found
}

func planTasks(s *protocol.State) (found []cobra.Completion) {
	if s.Plan == nil {
		return nil
	}
	for _, t := range s.Plan.Tasks {
		found = append(found, cobra.CompletionWithDesc(oneLine(t.ID, 0), oneLine(t.Title, 60)))
	}
	return found
}
