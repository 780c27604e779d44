package pipeline

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// The settings that can be changed.
const (
	parallelSetting = "parallel"
	confirmSetting  = "confirm"

	confirmOn  = "on" // values of confirmSetting
	confirmOff = "off"
)

// parallel returns the maximum number of concurrent tasks.
func (a *Agent) parallel() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return cmp.Or(a.state.Parallel, a.options.Config.parallel())
}

func (c *Config) parallel() int { return cmp.Or(c.Parallel, defaultParallel) }

func (a *Agent) confirms() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.state.Confirm != nil {
		return *a.state.Confirm
	}
	return a.options.Config.confirms()
}

func (c *Config) confirms() bool { return c.Confirm == nil || *c.Confirm }

// settings returns the settings. Those without choices come from the configuration.
func (a *Agent) settings() []protocol.Setting {
	c := &a.options.Config
	parallel := protocol.Setting{
		ID: parallelSetting, Name: "Parallel tasks",
		Value: strconv.Itoa(a.parallel()), Default: strconv.Itoa(c.parallel()),
	}
	numbers := []int{1, 2, 4, 8, 16, 32, maxParallel, a.parallel(), c.parallel()}
	slices.Sort(numbers)
	for _, n := range slices.Compact(numbers) {
		id := strconv.Itoa(n)
		parallel.Choices = append(parallel.Choices, protocol.Choice{ID: id, Label: id + " parallel"})
	}
	confirm := protocol.Setting{
		ID: confirmSetting, Name: "Plans", Value: confirmValue(a.confirms()), Default: confirmValue(c.confirms()),
		Choices: []protocol.Choice{
			{ID: confirmOn, Label: "confirm plans", About: "each plan is a request"},
			{ID: confirmOff, Label: "plans run unconfirmed", About: "tasks start without a request"},
		},
	}
	all := []protocol.Setting{parallel, confirm}
	planner, solver, aggregator := c.Roles()
	for _, s := range []protocol.Setting{
		{ID: plannerRole, Name: "Planner", Value: planner},
		{ID: solverRole, Name: "Solver", Value: solver},
		{ID: aggregatorRole, Name: "Aggregator", Value: aggregator},
		{ID: "turn_limits", Name: "Limits of a turn", Value: c.Limits.Turn.String()},
		{ID: "task_limits", Name: "Limits of a task", Value: c.Limits.Task.String()},
	} {
		if s.Default = s.Value; s.Value != "" {
			all = append(all, s)
		}
	}
	return all
}

func confirmValue(confirms bool) string {
	if confirms {
		return confirmOn
	}
	return confirmOff
}

func (a *Agent) emitOptions() error {
	o := protocol.Options{Name: a.options.Name, Settings: a.settings()}
	return a.host.Emit(agent.Event{Type: protocol.AgentOptions, Data: o})
}

// Configure implements agent.Configurer. A higher number of tasks starts more immediately; a lower
// one stops none. The confirmation setting applies from the next plan on.
func (a *Agent) Configure(_ context.Context, setting, value string) error {
	n, err := strconv.Atoi(value)
	if err != nil || setting != parallelSetting { // which takes numbers between its choices, too
		set, chosen, err := protocol.ChooseSetting(a.settings(), setting, value)
		if err != nil {
			return err
		}
		setting, value = set.ID, chosen
		n, _ = strconv.Atoi(value)
	}
	switch {
	case setting != parallelSetting && setting != confirmSetting:
		return protocol.Errorf(protocol.CodeUnsupported,
			"%s of a pipeline is set in the configuration of the server", setting)
	case setting == parallelSetting && (n < 1 || n > maxParallel):
		return protocol.Errorf(protocol.CodeInvalidMessage, "parallel: want a number from 1 to %d", maxParallel)
	}
	err = a.change(func(s *state) {
		if setting == parallelSetting {
			s.Parallel = n
		} else {
			s.Confirm = new(value == confirmOn)
		}
	}, a.host.Save)
	if err != nil {
		return err
	}
	a.schedule.Load().Reconsider()
	return a.emitOptions()
}
