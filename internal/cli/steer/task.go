package steer

import (
	"context"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/protocol"
)

type taskOptions struct {
	cli *verb.Context

	Verb    protocol.Verb
	Session string
	Task    string
}

var taskVerb = verb.Verb{
	Name: "task", Group: verb.GroupSteer,
	Build: func(cli *verb.Context) *cobra.Command { return newTask(cli) },
	Below: []*verb.Verb{&taskCancelVerb, &taskRestartVerb},
}

func newTask(*verb.Context) *cobra.Command {
	return &cobra.Command{
		Use:     "task",
		Short:   "Cancel or restart a task of a plan",
		Long:    "Cancel or restart a task of the plan of a session.",
		Example: "  agentctl task cancel fix t2\n  agentctl task restart fix t2",
	}
}

var taskCancelVerb = verb.Verb{
	Name:  "cancel",
	Build: func(cli *verb.Context) *cobra.Command { return newTaskCancel(cli, runTask) },
	Sends: protocol.DoTaskCancel,
	Trial: "fix t1",
}

var taskRestartVerb = verb.Verb{
	Name:  "restart",
	Build: func(cli *verb.Context) *cobra.Command { return newTaskRestart(cli, runTask) },
	Sends: protocol.DoTaskRestart,
	Trial: "fix t1",
}

func newTaskCancel(cli *verb.Context, run func(context.Context, *taskOptions) error) *cobra.Command {
	return newTaskVerb(cli, "cancel", "Cancel a task", "Cancel a task of the plan. The other tasks continue.",
		protocol.DoTaskCancel, run)
}

func newTaskRestart(cli *verb.Context, run func(context.Context, *taskOptions) error) *cobra.Command {
	return newTaskVerb(cli, "restart", "Restart a task",
		"Restart a task of the plan. If the turn of the plan is over, an agent that keeps\n"+
			"results, such as a pipeline, runs the plan again without its completed tasks.",
		protocol.DoTaskRestart, run)
}

func newTaskVerb(cli *verb.Context, name, short, long string, command protocol.Verb,
	run func(context.Context, *taskOptions) error,
) *cobra.Command {
	o := &taskOptions{cli: cli, Verb: command}
	return &cobra.Command{
		Use:               name + " SESSION TASK",
		Short:             short,
		Long:              long,
		Example:           "  agentctl task " + name + " fix t2",
		Args:              verb.RangeArgs(2, 2),
		ValidArgsFunction: completion.InSession(cli, completion.Tasks),
		RunE: verb.RunE(cli, o, func(args []string) error {
			o.Session, o.Task = args[0], args[1]
			return nil
		}, run),
	}
}

func runTask(ctx context.Context, o *taskOptions) error {
	_, err := connection.CallOnce[protocol.Empty](ctx, o.cli, o.Verb, o.Session, protocol.TaskIDData{Task: o.Task})
	return err
}
