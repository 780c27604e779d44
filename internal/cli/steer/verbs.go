package steer

import (
	"slices"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/verb"
)

// Verbs are the verbs of this package.
var Verbs = slices.Concat([]*verb.Verb{
	&sendVerb, &waitVerb, &queueVerb, &approvalsVerb, &approveVerb, &denyVerb, &explainVerb, &rulesVerb,
	&planVerb, &taskVerb,
}, calls.Below(""))

var taskVerb = verb.Verb{
	Name: "task", Group: verb.GroupSteer,
	Build: func(*verb.Context) *cobra.Command {
		return &cobra.Command{
			Use:     "task",
			Short:   "Cancel or restart a task of a plan",
			Long:    "Cancel or restart a task of the plan of a session.",
			Example: "  agentctl task cancel fix t2\n  agentctl task restart fix t2",
		}
	},
	Below: calls.Below("task"),
}
