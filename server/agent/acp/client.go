package acp

import (
	"context"
	"encoding/json"
	"os"
	"sync"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/acp/catalog"
	"agentctl/server/agent/acp/rpc"
)

// client is the ACP client of one agent process: its connection, session and running turn.
type client struct {
	// Static after start.
	config    Config
	host      agent.Host
	program   program
	conn      *rpc.Conn
	wire      wire
	agentInfo initializeResult
	exited    chan struct{} // closed when the process group has ended and its end is recorded
	replayed  chan struct{} // capacity 1; signals a dropped update of a replay

	settings settings
	lane     lane // of the session
	account  account
	pages    pages
	subs     subAgents

	mu         sync.Mutex
	session    string  // ACP session id; static after start
	replay     *replay // receives the updates while an ACP session is restored; nil: none is
	compaction compaction
	unknown    map[string]bool // kinds of messages that were logged
}

// maxUnknown bounds the kinds of messages that are logged once.
const maxUnknown = 100

type cancelParams struct {
	Session string `json:"sessionId"`
}

// start launches the program and opens the ACP session. On an error the process has ended.
func (a *Agent) start(ctx context.Context, saved state) (*client, error) {
	env := a.config.Variables(&a.spec)
	c, err := a.launch(ctx, env)
	if err != nil {
		return nil, err
	}
	a.starting(protocol.StepSession)
	servers, leftOut := c.mcpServers(env, a.spec.MCPServers)
	if err = a.openSession(ctx, c, saved, servers); wantsLogin(err) && c.authenticate(ctx, env) {
		err = a.openSession(ctx, c, saved, servers)
	}
	if err == nil {
		err = a.reportLeftOut(c, leftOut)
	}
	if err != nil {
		err = a.translateError(c, err)
		c.close(0)
		return nil, err
	}
	return c, nil
}

// starting shows users the step of the start that begins; empty: it has ended.
func (a *Agent) starting(step string) {
	if w, ok := a.host.(agent.StartWatcher); ok {
		w.Starting(step)
	}
}

// launch runs the program and agrees on the protocol. On an error the process has ended.
func (a *Agent) launch(ctx context.Context, env []string) (*client, error) {
	if info, err := os.Stat(a.spec.CWD); a.config.Dial == nil && a.config.Remote == nil && (err != nil || !info.IsDir()) {
		return nil, protocol.Errorf(protocol.CodeNoAgent,
			"cannot start %s: %s is not a directory", a.config.Name, a.spec.CWD)
	}
	a.starting(protocol.StepStart)
	conn, err := a.open(ctx, env)
	if err != nil {
		return nil, err
	}
	c := &client{
		wire:   newWire(a.config.Version),
		config: a.config, host: a.host, program: conn,
		exited: make(chan struct{}), replayed: make(chan struct{}, 1), unknown: map[string]bool{},
	}
	if !a.config.NestSubAgents {
		c.subs.agent = a
		c.subs.host, _ = a.host.(agent.WorkHost)
	}
	c.conn = rpc.New(conn.out, conn.in, c)
	go c.awaitExit(conn.ended)

	a.starting(protocol.StepInitialize)
	if err := c.initialize(ctx); err != nil {
		err = a.translateError(c, err)
		c.close(0)
		return nil, err
	}
	if a.initialized != nil {
		a.initialized(&c.agentInfo)
	}
	return c, nil
}

// awaitExit waits for the end of the program and records it.
func (c *client) awaitExit(ended func() error) {
	defer close(c.exited)
	<-c.program.Done()
	c.program.End(0)
	c.conn.Wait()
	c.lane.finish()
	c.subs.finish()
	c.program.Release()
	if err := ended(); err != nil {
		c.host.Logf("record the end of %s: %v", c.config.Name, err)
	}
}

func (c *client) alive() bool {
	select {
	case <-c.conn.Done():
		return false
	case <-c.program.Done():
		return false
	default:
		return true
	}
}

// close stops the program and returns when its process group has exited.
func (c *client) close(grace time.Duration) {
	c.program.End(grace)
	<-c.exited
}

// offeredCapabilities returns the client's capabilities. Files and terminals are not offered:
// agents work the same without them.
func (c *client) offeredCapabilities() clientCapabilities {
	var offered clientCapabilities
	offered.Meta.TerminalOutput, offered.Auth.Terminal = true, true
	offered.Elicitation = &elicitationCapabilities{}
	if c.subs.host != nil {
		offered.SubAgents = new(struct{})
	}
	return offered
}

func (c *client) initialize(ctx context.Context) error {
	version := c.config.Version
	params := initializeParams{
		Version: version, Capabilities: c.offeredCapabilities(), Client: implementation{
			Name: "agentctl", Title: "agentctl",
			Version: protocol.Version,
		},
	}
	if err := c.call(ctx, "initialize", params, &c.agentInfo); err != nil {
		return err
	}
	if v := c.agentInfo.Version; v != version {
		return protocol.Errorf(protocol.CodeAgentFailed,
			"%s uses version %d of the Agent Client Protocol, this server version %d", c.config.Name, v, version)
	}
	c.updateSettings(func(s *settings) {
		s.setAgent(c.config.Name, c.agentInfo.Agent)
		if c.steers() {
			s.options.Features = []string{protocol.FeatureSteer}
		}
	})
	return nil
}

// known returns what differs between agents for this one.
func (c *client) known() catalog.Agent {
	if c.agentInfo.Agent == nil {
		return catalog.Announced(c.agentInfo.Capabilities.Meta)
	}
	return catalog.Reported(c.agentInfo.Agent.Name)
}

// endTurn detaches the turn and waits for its pending requests.
func (c *client) endTurn(t *turn) {
	c.compactedTo(0)
	c.subs.awaitBegins()
	c.lane.endTurn(t)
}

// A target is where what an agent sends in an ACP session belongs.
type target struct {
	lane   *lane     // nil: of no session that is known
	sub    *subAgent // whose session it is; nil: none's
	own    bool      // the session is the agent's own, or may be: it is being opened
	replay *replay   // an ACP session is being restored; nil: none is
}

// targetOf returns the target of an ACP session.
func (c *client) targetOf(session string) target {
	c.mu.Lock()
	own := c.session
	t := target{replay: c.replay}
	c.mu.Unlock()
	if t.sub = c.subs.get(session); t.sub != nil {
		t.lane = &t.sub.lane
	} else if t.own = own == "" || own == session; own == session {
		t.lane = &c.lane
	}
	return t
}

func (c *client) prompt(ctx context.Context, blocks []block) (promptResult, error) {
	return c.wire.prompt(ctx, c.conn, promptParams{Session: c.session, Prompt: blocks})
}

// keepRaw keeps a message that maps to no event: as a raw event, which clients show in their
// protocol log only. The log of the server names each kind once.
func (c *client) keepRaw(method, kind string, data json.RawMessage) {
	c.mu.Lock()
	logged := c.unknown[method+" "+kind]
	if len(c.unknown) < maxUnknown {
		c.unknown[method+" "+kind] = true
	}
	c.mu.Unlock()
	if !logged {
		c.host.Logf("%s sent a message without an equivalent: %.80q %.80q", c.config.Name, method, kind)
	}
	c.emit(agent.Event{Type: protocol.Raw, Data: protocol.RawData{Source: "acp", Method: method, Data: data}})
}

// notice emits a notice with a title and an optional text.
func (c *client) notice(level, title, text string) {
	if text != "" {
		title += ": " + text
	}
	c.emit(agent.Event{Type: protocol.Notice, Data: protocol.NoticeData{Level: level, Message: title}})
}

// emit emits an event of the agent rather than of a turn.
func (c *client) emit(e agent.Event) {
	if err := c.host.Emit(e); err != nil {
		c.host.Logf("%s of %s: %v", e.Type, c.config.Name, err)
	}
}
