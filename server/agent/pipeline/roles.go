package pipeline

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// The roles of the agents.
const (
	plannerRole    = "planner"
	solverRole     = "solver"
	aggregatorRole = "aggregator"
)

type roleAgent struct {
	name  string
	roles []string
}

// roleAgents returns the different agents of the roles.
func (c *Config) roleAgents() (agents []roleAgent) {
	planner, solver, aggregator := c.Roles()
	for _, r := range []roleAgent{
		{planner, []string{plannerRole}}, {solver, []string{solverRole}}, {aggregator, []string{aggregatorRole}},
	} {
		if i := slices.IndexFunc(agents, func(o roleAgent) bool { return o.name == r.name }); i >= 0 {
			agents[i].roles = append(agents[i].roles, r.roles...)
		} else {
			agents = append(agents, r)
		}
	}
	return agents
}

// openRole opens an agent of a role, with its stored state.
func (a *Agent) openRole(name string, host agent.Host, state []byte) (agent.Agent, error) {
	return a.options.Open(agent.Spec{
		Session: a.spec.Session, Agent: name, CWD: a.spec.CWD, Env: a.spec.Env, Parent: a.spec.Parent,
		OwnDirectories: a.spec.OwnDirectories, Sandbox: a.spec.Sandbox, SandboxDir: a.spec.SandboxDir,
		MCPServers: a.spec.MCPServers, State: state,
	}, host)
}

// inspectRoles returns the common capabilities of the agents of all roles. An agent that cannot be
// opened can do nothing; Start or the turn returns its error.
func (a *Agent) inspectRoles() (common agent.Capabilities, explains bool) {
	common, explains = agent.Capabilities{
		Resumes: true, TakesPatch: true, TakesCommand: true, TakesServers: true,
	}, true
	for _, r := range a.options.Config.roleAgents() {
		opened, err := a.openRole(r.name, roleHost{a.host}, nil)
		if err != nil {
			return agent.Capabilities{}, false
		}
		c := opened.Capabilities()
		if !slices.Equal(r.roles, []string{plannerRole}) { // a turn without a plan does not continue
			common.Resumes = common.Resumes && c.Resumes && c.TakesReason // a reason would be a second turn
		}
		common.TakesPatch = common.TakesPatch && c.TakesPatch
		common.TakesCommand = common.TakesCommand && c.TakesCommand
		common.TakesServers = common.TakesServers && c.TakesServers
		common.ReadTools = append(common.ReadTools, c.ReadTools...)
		if _, ok := opened.(agent.Explainer); !ok {
			explains = false
		}
		if err := opened.Close(); err != nil {
			a.host.Logf("close %s: %v", r.name, err)
		}
	}
	return common, explains
}

// Start implements agent.Starter. A new session is created only if the agents of all roles start;
// they are closed again, since each task opens its own agent.
func (a *Agent) Start(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	a.mu.Lock()
	if a.closed {
		a.mu.Unlock()
		return a.errIsClosed()
	}
	a.stop = stop
	check := a.spec.Checking && a.started.IsZero()
	a.runs.Add(1)
	a.mu.Unlock()
	defer a.runs.Done()

	if check {
		if err := a.startRoles(ctx); err != nil {
			if errors.Is(context.Cause(ctx), errClosed) {
				return a.errIsClosed()
			}
			return err
		}
	}
	return a.announce()
}

// announce emits the settings once.
func (a *Agent) announce() error {
	a.mu.Lock()
	first := a.started.IsZero()
	if first {
		a.started = time.Now()
	}
	a.mu.Unlock()
	if !first {
		return nil
	}
	return a.emitOptions()
}

// Process implements agent.Starter. The stored state restores the plan.
func (a *Agent) Process() agent.Process {
	a.mu.Lock()
	defer a.mu.Unlock()
	return agent.Process{Running: !a.started.IsZero() && !a.closed, Since: a.started, Restores: true}
}

// startRoles starts the agents of all roles and closes them. The error names the first that fails.
func (a *Agent) startRoles(ctx context.Context) error {
	agents := a.options.Config.roleAgents()
	errs := make([]error, len(agents))
	var starting sync.WaitGroup
	for i, r := range agents {
		starting.Go(func() { errs[i] = a.startRole(ctx, &r) })
	}
	starting.Wait()
	return cmp.Or(errs...)
}

func (a *Agent) startRole(ctx context.Context, r *roleAgent) error {
	opened, err := a.openRole(r.name, roleHost{a.host}, nil)
	if err == nil {
		if starter, ok := opened.(agent.Starter); ok {
			err = starter.Start(ctx)
		}
		if failed := opened.Close(); failed != nil {
			a.host.Logf("close %s: %v", r.name, failed)
		}
	}
	if err != nil {
		return protocol.Errorf(cmp.Or(codeOf(err), protocol.CodeAgentFailed), "%s, the %s of %s: %v",
			r.name, strings.Join(r.roles, " and "), a.options.Name, err)
	}
	return nil
}

// A roleHost is the Host of an agent that runs no turn: its events and state are dropped.
type roleHost struct{ agent.Host }

func (roleHost) Emit(agent.Event) error                          { return nil }
func (roleHost) Save([]byte) error                               { return nil }
func (roleHost) SaveBlob(agent.Blob) error                       { return nil }
func (roleHost) Transcript(context.Context, int) (string, error) { return "", nil }
func (roleHost) RecordConversation(string, string) error         { return nil }
