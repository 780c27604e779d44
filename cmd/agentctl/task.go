package main

import (
	"context"

	"github.com/spf13/cobra"

	"agentctl/protocol"
)

type taskOptions struct {
	app *app

	Verb    protocol.Verb
	Session string
	Task    string
}

func newTask(a *app) *cobra.Command {
	return groupCommand(&cobra.Command{
		Use:     "task",
		Short:   "Cancel or restart a task of a plan",
		Long:    "Cancel or restart a task of the plan of a session.",
		Example: "  agentctl task cancel fix t2\n  agentctl task restart fix t2",
	},
		newTaskVerb(a, "cancel", "Cancel a task", "Cancel a task of the plan. The other tasks continue.",
			protocol.DoTaskCancel, runTask),
		newTaskVerb(a, "restart", "Restart a task",
			"Restart a task of the plan. If the turn of the plan is over, an agent that keeps\n"+
				"results, such as a pipeline, runs the plan again without its completed tasks.",
			protocol.DoTaskRestart, runTask),
	)
}

func newTaskVerb(a *app, name, short, long string, verb protocol.Verb,
	run func(context.Context, *taskOptions) error,
) *cobra.Command {
	o := &taskOptions{app: a, Verb: verb}
	return &cobra.Command{
		Use:               name + " SESSION TASK",
		Short:             short,
		Long:              long,
		Example:           "  agentctl task " + name + " fix t2",
		Args:              rangeArgs(2, 2),
		ValidArgsFunction: a.completeInSession(taskCompletions),
		RunE: runE(a, o, func(args []string) error {
			o.Session, o.Task = args[0], args[1]
			return nil
		}, run),
	}
}

func runTask(ctx context.Context, o *taskOptions) error {
	_, err := callOnce[protocol.Empty](ctx, o.app, o.Verb, o.Session, protocol.TaskIDData{Task: o.Task})
	return err
}
