package steer

import (
	"context"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/verb"
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

var denyVerb = verb.Verb{
	Name: "deny", Group: verb.GroupSteer,
	Build: func(cli *verb.Context) *cobra.Command { return newDeny(cli, runDecision) },
	Sends: protocol.DoApprove,
	Needs: []verb.FlagFeature{{Flag: "stop", Feature: codec.DenyStop}},
	Trial: "fix r1",
}

func newDeny(cli *verb.Context, run func(context.Context, *decisionOptions) error) *cobra.Command {
	o := &decisionOptions{cli: cli, Decision: protocol.Deny}
	cmd := &cobra.Command{
		Use:   "deny SESSION [REQUEST]",
		Short: "Deny a request of an agent",
		Long: `Deny a request of an agent. The agent receives the reason and continues without it.
With --stop the turn ends and the queue is held.` + decisionLong,
		Example: "  agentctl deny fix --reason \"use the staging database\"\n  agentctl deny fix r_3 --stop",
	}
	addDecision(cli, cmd, o, run)
	f := cmd.Flags()
	f.BoolVar(&o.Stop, "stop", false, "end the turn and hold the queue")
	f.BoolVar(&o.Replan, "replan", false, "request a new plan, with --reason as feedback")
	f.StringVar(&o.Input, "input", "", "`FILE` with JSON input, or -")
	return cmd
}
