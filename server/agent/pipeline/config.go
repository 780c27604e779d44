package pipeline

import (
	"cmp"
	"errors"
	"fmt"

	"agentctl/server/agent"
)

// A Config is a pipeline in the configuration of the server. The roles are names of agents. One is
// enough: a role that is not set uses the solver's agent, or else another role's.
type Config struct {
	Planner    string `json:"planner"`    // agent that makes the plan; default the solver
	Solver     string `json:"solver"`     // agent of each task; default the planner
	Aggregator string `json:"aggregator"` // agent that makes the answer of the results; default the solver

	Parallel int   `json:"parallel"`  // concurrent tasks; default 4
	MaxTasks int   `json:"max_tasks"` // of a plan; default 50
	Attempts int   `json:"attempts"`  // of the planner at a valid plan; default 3
	Confirm  *bool `json:"confirm"`   // the user confirms each plan; default true

	Limits TurnAndTask `json:"limits"` // of time, calls, tokens and cost
}

// TurnAndTask are the limits of a turn and of each of its tasks.
type TurnAndTask struct {
	Turn Limits `json:"turn"` // of one turn
	Task Limits `json:"task"` // of each attempt at a task
}

// The defaults, and the most that a configuration can set.
const (
	defaultParallel = 4
	defaultTasks    = 50
	defaultAttempts = 3
	maxTasks        = 200
	maxParallel     = 64
)

// Roles returns the agents of the planner, the solver and the aggregator.
func (c *Config) Roles() (planner, solver, aggregator string) {
	return cmp.Or(c.Planner, c.Solver, c.Aggregator), cmp.Or(c.Solver, c.Planner, c.Aggregator),
		cmp.Or(c.Aggregator, c.Solver, c.Planner)
}

// Check returns the first invalid value. It does not know which agents exist.
func (c *Config) Check() error {
	switch {
	case c.Planner == "" && c.Solver == "" && c.Aggregator == "":
		return errors.New("name an agent as planner, solver or aggregator")
	case c.Parallel < 0 || c.Parallel > maxParallel:
		return fmt.Errorf("parallel: want 1 to %d", maxParallel)
	case c.MaxTasks < 0 || c.MaxTasks > maxTasks:
		return fmt.Errorf("max_tasks: want 1 to %d", maxTasks)
	case c.Attempts < 0:
		return errors.New("attempts must be positive")
	}
	for name, l := range map[string]Limits{"turn": c.Limits.Turn, "task": c.Limits.Task} {
		if l.Time < 0 || l.Calls < 0 || l.Tokens < 0 || l.Cost < 0 {
			return errors.New("limits." + name + ": must be positive")
		}
	}
	return nil
}

// Options are a pipeline's dependencies, in addition to its configuration.
type Options struct {
	Name   string
	Config Config

	// Open opens an agent by the name in spec.Agent.
	Open func(spec agent.Spec, host agent.Host) (agent.Agent, error)
}
