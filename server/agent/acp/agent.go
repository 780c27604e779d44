package acp

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/acp/catalog"
	"agentctl/server/agent/acp/remote"
)

// Default deadlines.
const (
	startTimeout   = 2 * time.Minute        // from process start to readiness for prompts
	replayQuiet    = 200 * time.Millisecond // without an update, ends a replay
	cancelTimeout  = 5 * time.Second        // from an interrupt to the kill of the process
	endGrace       = 2 * time.Second        // between closing input, TERM and KILL
	restoreTimeout = 75 * time.Second       // of attempts to restore an ACP session
)

// Config configures an agent. Zero durations select the defaults.
type Config struct {
	Name     string // display name
	Command  []string
	Env      map[string]string // added to the environment of the server
	Defaults map[string]string // used unless another source sets them
	Install  string            // installation hint for users
	Login    string            // login hint for users
	MCP      []MCPServer
	Version  int // of the protocol: 1, or 2, which is not final; default 1

	// NestSubAgents: sub-agents have no sessions. The agent may send their calls below its own.
	NestSubAgents bool

	// Remote is the address of an agent that runs elsewhere, instead of a command; nil: none. ${NAME} in
	// the values of its headers is a variable of the agent's environment.
	Remote *remote.Address

	// Dial connects to an agent that is not a process of this server, instead of running Command.
	Dial func(context.Context) (io.ReadWriteCloser, error)

	StartTimeout   time.Duration
	RestoreTimeout time.Duration
	CancelTimeout  time.Duration
	EndGrace       time.Duration
}

// Agent runs the turns of one session on an ACP agent. The process starts with Start or the first
// turn, and restarts with the next turn after it has exited.
type Agent struct {
	// Static after New.
	config Config
	spec   agent.Spec
	host   agent.Host
	ctx    context.Context // cancelled by Close
	cancel context.CancelFunc

	initialized func(*initializeResult) // called by each start; may be nil

	startSem chan struct{} // capacity 1; held while a client starts or ends

	mu      sync.Mutex
	client  *client // nil: no process
	started time.Time
	saved   state
}

var (
	_ agent.Agent      = (*Agent)(nil)
	_ agent.Starter    = (*Agent)(nil)
	_ agent.Configurer = (*Agent)(nil)
)

// New returns an agent for a session. It starts no process.
func New(config Config, spec agent.Spec, host agent.Host) (*Agent, error) {
	if len(config.Command) == 0 && config.Dial == nil && config.Remote == nil {
		return nil, protocol.Errorf(protocol.CodeNoAgent, "agent %s has no command", config.Name)
	}
	config.StartTimeout = cmp.Or(config.StartTimeout, startTimeout)
	config.RestoreTimeout = cmp.Or(config.RestoreTimeout, restoreTimeout)
	config.CancelTimeout = cmp.Or(config.CancelTimeout, cancelTimeout)
	config.EndGrace = cmp.Or(config.EndGrace, endGrace)
	cwd, err := filepath.Abs(spec.CWD)
	if err != nil {
		return nil, fmt.Errorf("working directory of %s: %w", config.Name, err)
	}
	spec.CWD = cwd
	if config.Version = cmp.Or(config.Version, 1); config.Version != 1 && config.Version != versionTwo {
		return nil, protocol.Errorf(protocol.CodeUnsupported,
			"version %d of the Agent Client Protocol is not supported: want 1 or 2", config.Version)
	}
	a := &Agent{
		config: config, spec: spec, host: host,
		startSem: make(chan struct{}, 1), saved: decodeState(spec.State),
	}
	a.ctx, a.cancel = context.WithCancel(context.Background())
	return a, nil
}

// Capabilities implements agent.Agent. ACP has no field for the reason of a decision, so the
// session sends it as a message.
func (a *Agent) Capabilities() agent.Capabilities {
	return agent.Capabilities{TakesServers: true, ReadTools: catalog.ReadTools()}
}

// Start implements agent.Starter.
func (a *Agent) Start(ctx context.Context) error {
	c, err := a.connect(ctx)
	if err == nil && c.account.isLoggedOut(c.known().Keys, a.config.Variables(&a.spec)) {
		err = c.loginNeeded()
	}
	return err
}

// Process implements agent.Starter.
func (a *Agent) Process() agent.Process {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.client == nil || !a.client.alive() {
		return agent.Process{}
	}
	return agent.Process{
		Running: true, Since: a.started, Restores: !a.saved.Prompted || a.client.restores(),
	}
}

// Run implements agent.Agent.
func (a *Agent) Run(ctx context.Context, turn agent.Turn, out agent.Output) (agent.End, error) {
	c, err := a.connect(ctx)
	if ctx.Err() != nil {
		return agent.End{Reason: protocol.ReasonInterrupted}, nil
	}
	if err != nil {
		return agent.End{}, err
	}
	if turn.Message, err = a.addTranscript(ctx, turn.Message); err != nil {
		return agent.End{}, err
	}
	if err := a.markPrompted(); err != nil {
		return agent.End{}, fmt.Errorf("save state: %w", err)
	}
	t := newTurn(ctx, turn.ID, out, a.spec.CWD, c.known())
	c.lane.setTurn(t)

	type response struct {
		result promptResult
		err    error
	}
	responses := make(chan response, 1)
	promptCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
	steered := c.steer(promptCtx, t, turn.Steering)
	defer steered.close(stop)
	defer c.endTurn(t)
	go func() {
		result, err := c.prompt(promptCtx, c.promptBlocks(turn.Message, t))
		responses <- response{result, err}
	}()
	select {
	case r := <-responses:
		steered.end(a.config.CancelTimeout)
		c.lane.accept()
		end, err := r.result.end(), r.err
		if err != nil {
			end, err = a.failedPrompt(c, t, err)
		}
		return t.settle(a.recordUsage(c, t, r.result, end)), err
	case <-ctx.Done():
	}

	cancelCtx, cancel := context.WithTimeout(promptCtx, a.config.CancelTimeout)
	defer cancel()
	if err := c.conn.Notify(cancelCtx, "session/cancel", cancelParams{c.session}); err != nil {
		a.host.Logf("interrupt %s: %v", a.config.Name, err)
	}
	end := agent.End{Reason: protocol.ReasonInterrupted}
	select {
	case r := <-responses:
		end = a.recordUsage(c, t, r.result, end)
	case <-cancelCtx.Done():
		a.kill(c, t)
		<-responses
	}
	steered.end(time.Second)
	return end, nil
}

// kill ends the process of an agent that did not end a turn after an interrupt.
func (a *Agent) kill(c *client, t *turn) {
	t.warn(fmt.Sprintf("%s did not stop within %v and was killed; it restarts with the next message",
		a.config.Name, a.config.CancelTimeout))
	c.close(0)
}

// Configure implements agent.Configurer. It starts the agent if necessary, since only a running
// agent reports its settings.
func (a *Agent) Configure(ctx context.Context, setting, value string) error {
	c, err := a.connect(ctx)
	if err != nil {
		return err
	}
	id, chosen, err := c.configure(ctx, setting, value)
	if err != nil {
		return a.translateError(c, err)
	}
	return a.updateState(func(s *state) { s.set(id, chosen) })
}

// Close implements agent.Agent.
func (a *Agent) Close() error {
	a.cancel()
	a.startSem <- struct{}{}
	defer func() { <-a.startSem }()
	a.mu.Lock()
	c := a.client
	a.client = nil
	a.mu.Unlock()
	if c != nil {
		c.close(a.config.EndGrace)
	}
	return nil
}

// connect returns the client of the running agent. It starts the agent if necessary.
func (a *Agent) connect(ctx context.Context) (*client, error) {
	select {
	case a.startSem <- struct{}{}:
		defer func() { <-a.startSem }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if a.ctx.Err() != nil {
		return nil, a.closedError()
	}
	a.mu.Lock()
	c, saved := a.client, a.saved
	a.mu.Unlock()
	if c != nil {
		if c.alive() {
			return c, nil
		}
		c.close(0)
	}

	ctx, cancel := context.WithTimeout(ctx, a.config.StartTimeout)
	defer cancel()
	defer context.AfterFunc(a.ctx, cancel)()
	c, err := a.start(ctx, saved)
	a.mu.Lock()
	a.client, a.started = c, time.Now()
	a.mu.Unlock()
	a.starting("")
	return c, err
}

func (a *Agent) closedError() error {
	return protocol.Errorf(protocol.CodeShuttingDown, "%s is closed", a.config.Name)
}

// markPrompted records that the ACP session has content to restore.
func (a *Agent) markPrompted() error {
	if a.savedState().Prompted {
		return nil
	}
	return a.updateState(func(s *state) { s.Prompted = true })
}

func (a *Agent) savedState() state {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.saved
}

// updateState changes the state and saves it.
func (a *Agent) updateState(change func(*state)) error {
	a.mu.Lock()
	change(&a.saved)
	b := a.saved.encode()
	a.mu.Unlock()
	return a.host.Save(b)
}

// Variables returns the environment of an agent's processes: the server's, overridden by the
// configuration's and the session's. A variable that is empty in the session is removed. A session that
// an agent created changes neither the configuration nor the defaults: they include the mode of the
// agent.
func (c *Config) Variables(spec *agent.Spec) []string {
	env := map[string]string{}
	maps.Copy(env, c.Defaults)
	for _, kv := range os.Environ() {
		k, v, _ := strings.Cut(kv, "=")
		if own, ok := spec.Env[k]; !ok || own != "" {
			env[k] = v
		}
	}
	maps.Copy(env, c.Env)
	for k, v := range spec.Env {
		_, isDefault := c.Defaults[k]
		_, configured := c.Env[k]
		if v != "" && (spec.Parent == "" || !isDefault && !configured) {
			env[k] = v
		}
	}
	list := make([]string, 0, len(env))
	for k, v := range env {
		list = append(list, k+"="+v)
	}
	return list
}
