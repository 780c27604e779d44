package steer

import (
	"agentctl/internal/cli/call"
	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/verb"
	"agentctl/protocol"
)

var taskVerb = verb.Verb{
	Use:     "task",
	Short:   "Cancel or restart a task of a plan",
	Long:    "Cancel or restart a task of the plan of a session.",
	Example: "  agentctl task cancel fix t2\n  agentctl task restart fix t2",
	Group:   verb.GroupSteer,
	Below:   []*verb.Verb{&taskCancelVerb, &taskRestartVerb},
}

var taskCancelVerb = verb.Verb{
	Use:     "cancel SESSION TASK",
	Short:   "Cancel a task",
	Long:    "Cancel a task of the plan. The other tasks continue.",
	Example: "  agentctl task cancel fix t2",
	Sends:   protocol.DoTaskCancel, Trial: "fix t1",
	Complete: completion.InSession(completion.Tasks),

	Do: &call.Command{
		Data: func(in *call.Input) (any, error) { return protocol.TaskIDData{Task: in.Arg(0)}, nil },
	},
}

var taskRestartVerb = verb.Verb{
	Use:   "restart SESSION TASK",
	Short: "Restart a task",
	Long: "Restart a task of the plan. If the turn of the plan is over, an agent that keeps\n" +
		"results, such as a pipeline, runs the plan again without its completed tasks.",
	Example: "  agentctl task restart fix t2",
	Sends:   protocol.DoTaskRestart, Trial: "fix t1",
	Complete: completion.InSession(completion.Tasks),

	Do: &call.Command{
		Data: func(in *call.Input) (any, error) { return protocol.TaskIDData{Task: in.Arg(0)}, nil },
	},
}
