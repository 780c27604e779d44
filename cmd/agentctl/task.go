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
	return group(&cobra.Command{
		Use:     "task",
		Short:   "Cancel or restart one task of a plan",
		Example: "  agentctl task cancel fix t2\n  agentctl task restart fix t2",
	},
		newTaskVerb(a, "cancel", "Cancel one task of a plan under way; the others go on", protocol.DoTaskCancel, runTask),
		newTaskVerb(a, "restart", "Begin one task of a plan under way again", protocol.DoTaskRestart, runTask),
	)
}

func newTaskVerb(a *app, name, short string, verb protocol.Verb, run func(context.Context, *taskOptions) error) *cobra.Command {
	o := &taskOptions{app: a, Verb: verb}
	return &cobra.Command{
		Use:               name + " SESSION TASK",
		Short:             short,
		Example:           "  agentctl task " + name + " fix t2",
		Args:              takes(2, 2),
		ValidArgsFunction: a.within(planTasks),
		RunE: does(a, o, func(args []string) error {
			o.Session, o.Task = args[0], args[1]
			return nil
		}, run),
	}
}

func runTask(ctx context.Context, o *taskOptions) error {
	_, err := once[protocol.Empty](ctx, o.app, o.Verb, o.Session, protocol.TaskIDData{Task: o.Task})
	return err
}
