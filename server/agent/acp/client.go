package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent/acp/rpc"
	"agentctl/server/agent/process"
	"agentctl/server/session"
)

// client is one run of the agent's program and the conversation with it.
type client struct {
	// Static after start.
	config    Config
	host      session.Host
	proc      *process.Process
	conn      *rpc.Conn
	agentInfo initializeResult
	exited    chan struct{} // closed when nothing of the program is left and its end is recorded
	replayed  chan struct{} // one place: something of a replay was dropped

	settings settings

	mu        sync.Mutex
	session   string // the conversation, as the agent calls it; static once the link has started
	resumed   bool   // it was taken up, not begun
	turn      *turn  // under way, nil between turns
	replaying bool   // a conversation is being loaded: what it holds is in the log
	cost      cost
}

type cancelParams struct {
	Session string `json:"sessionId"`
}

// start runs the program and takes up the kept conversation, or begins one. On an error nothing is left of the program.
func (a *Agent) start(ctx context.Context, kept state) (*client, error) {
	if info, err := os.Stat(a.spec.CWD); err != nil || !info.IsDir() {
		return nil, protocol.Errorf(protocol.CodeNoAgent, "%s cannot be started: %s is no directory", a.config.Name, a.spec.CWD)
	}
	env := a.environment()
	proc, err := process.Start(process.Command{Args: a.config.Command, Dir: a.spec.CWD, Env: env, Record: func(g process.Group) error {
		return a.host.Group(session.Group{Session: a.spec.Session, PID: g.PID, Start: g.Start})
	}})
	if err != nil {
		return nil, a.startError(err)
	}
	c := &client{config: a.config, host: a.host, proc: proc, exited: make(chan struct{}), replayed: make(chan struct{}, 1)}
	g := proc.Group()
	c.conn = rpc.New(proc.Stdout, proc.Stdin, c)
	go c.awaitExit(session.Group{Session: a.spec.Session, PID: g.PID, Start: g.Start, Ended: true})

	if err = c.initialize(ctx); err == nil {
		if err = a.openSession(ctx, c, kept); wantsLogin(err) && c.authenticate(ctx, env) {
			err = a.openSession(ctx, c, kept)
		}
	}
	if err != nil {
		err = a.translateError(c, err)
		c.close(0)
		return nil, err
	}
	return c, nil
}

// awaitExit waits for the program's end, whoever causes it, and records it.
func (c *client) awaitExit(g session.Group) {
	defer close(c.exited)
	<-c.proc.Done()
	c.proc.End(0)
	c.conn.Wait()
	c.proc.Release()
	if err := c.host.Group(g); err != nil {
		c.host.Logf("record the end of process group %d: %v", g.PID, err)
	}
}

func (c *client) alive() bool {
	select {
	case <-c.conn.Done():
		return false
	case <-c.proc.Done():
		return false
	default:
		return true
	}
}

// close ends the program and returns when nothing of it is left.
func (c *client) close(grace time.Duration) {
	c.proc.End(grace)
	<-c.exited
}

func (c *client) initialize(ctx context.Context) error {
	raw, err := c.conn.Call(ctx, "initialize", initializeParams{
		Version: protocolVersion, Client: implementation{Name: "agentctl", Title: "agentctl", Version: protocol.Version},
	})
	if err != nil {
		return err
	}
	if err := decode(raw, &c.agentInfo); err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	if v := c.agentInfo.Version; v != protocolVersion {
		return protocol.Errorf(protocol.CodeAgentFailed,
			"%s speaks version %d of the Agent Client Protocol, and this server version %d", c.config.Name, v, protocolVersion)
	}
	c.updateSettings(func(s *settings) { s.setAgent(c.config.Name, c.agentInfo.Agent) })
	return nil
}

// setTurn makes t the turn that updates belong to.
func (c *client) setTurn(t *turn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.turn = t
}

// endTurn ends the turn's part in the conversation and waits for what it still does.
func (c *client) endTurn(t *turn) {
	c.mu.Lock()
	c.turn = nil
	c.mu.Unlock()
	t.finish()
}

// turnFor returns the turn under way that an update of the named conversation belongs to, and whether the update is a replay.
func (c *client) turnFor(conversation string) (t *turn, replay bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if conversation != c.session {
		return nil, c.replaying
	}
	return c.turn, c.replaying
}

func (c *client) prompt(ctx context.Context, blocks []block) (session.End, error) {
	raw, err := c.conn.Call(ctx, "session/prompt", promptParams{Session: c.session, Prompt: blocks})
	if err != nil {
		return session.End{}, err
	}
	var result promptResult
	if err := decode(raw, &result); err != nil {
		return session.End{}, fmt.Errorf("session/prompt: %w", err)
	}
	return result.end(), nil
}

func (a *Agent) notice(format string, args ...any) {
	data := protocol.NoticeData{Level: protocol.LevelWarning, Message: fmt.Sprintf(format, args...)}
	if err := a.host.Emit(session.Event{Type: protocol.Notice, Data: data}); err != nil {
		a.host.Logf("notice: %v", err)
	}
}

// emitRaw keeps what maps to nothing.
func (c *client) emitRaw(method string, data json.RawMessage) {
	e := session.Event{Type: protocol.Raw, Data: protocol.RawData{Source: "acp", Method: method, Data: data}}
	if err := c.host.Emit(e); err != nil {
		c.host.Logf("keep a message of %s: %v", c.config.Name, err)
	}
}
