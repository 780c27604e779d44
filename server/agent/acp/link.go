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

// link is one run of the agent's program and the conversation with it.
type link struct {
	// Static after start.
	config   Config
	host     session.Host
	proc     *process.Process
	conn     *rpc.Conn
	offers   initializeResult
	gone     chan struct{} // closed when nothing of the program is left and its end is recorded
	replayed chan struct{} // one place: something of a replay was dropped

	settings settings

	mu        sync.Mutex
	session   string // the conversation, as the agent calls it; static once the link has started
	resumed   bool   // it was taken up, not begun
	turn      *turn  // under way, nil between turns
	replaying bool   // a conversation is being loaded: what it holds is in the log
	cost      cost
}

type sessionID struct {
	Session string `json:"sessionId"`
}

// start runs the program and takes up the kept conversation, or begins one. On an error nothing is left of the program.
func (a *Agent) start(ctx context.Context, kept state) (*link, error) {
	if info, err := os.Stat(a.spec.CWD); err != nil || !info.IsDir() {
		return nil, protocol.Errorf(protocol.CodeNoAgent, "%s cannot be started: %s is no directory", a.config.Name, a.spec.CWD)
	}
	env := a.environment()
	proc, err := process.Start(process.Command{Args: a.config.Command, Dir: a.spec.CWD, Env: env, Keep: func(g process.Group) error {
		return a.host.RecordProcessGroup(session.ProcessGroup{Session: a.spec.Session, PID: g.PID, Start: g.Start})
	}})
	if err != nil {
		return nil, a.notStarted(err)
	}
	l := &link{config: a.config, host: a.host, proc: proc, gone: make(chan struct{}), replayed: make(chan struct{}, 1)}
	g := proc.Group()
	l.conn = rpc.New(proc.Stdout, proc.Stdin, l)
	go l.watch(session.ProcessGroup{Session: a.spec.Session, PID: g.PID, Start: g.Start, Ended: true})

	if err = l.initialize(ctx); err == nil {
		if err = a.converse(ctx, l, kept); wantsLogin(err) && l.logIn(ctx, env) {
			err = a.converse(ctx, l, kept)
		}
	}
	if err != nil {
		err = a.failed(l, err)
		l.close(0)
		return nil, err
	}
	return l, nil
}

// watch waits for the program's end, whoever causes it, and records it.
func (l *link) watch(g session.ProcessGroup) {
	defer close(l.gone)
	<-l.proc.Done()
	l.proc.End(0)
	l.conn.Wait()
	l.proc.Release()
	if err := l.host.RecordProcessGroup(g); err != nil {
		l.host.Logf("record the end of process group %d: %v", g.PID, err)
	}
}

func (l *link) alive() bool {
	select {
	case <-l.conn.Done():
		return false
	case <-l.proc.Done():
		return false
	default:
		return true
	}
}

// close ends the program and returns when nothing of it is left.
func (l *link) close(grace time.Duration) {
	l.proc.End(grace)
	<-l.gone
}

func (l *link) initialize(ctx context.Context) error {
	raw, err := l.conn.Call(ctx, "initialize", initializeParams{
		Version: version, Client: implementation{Name: "agentctl", Title: "agentctl", Version: protocol.Version},
	})
	if err != nil {
		return err
	}
	if err := read(raw, &l.offers); err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	if v := l.offers.Version; v != version {
		return protocol.Errorf(protocol.CodeAgentFailed,
			"%s speaks version %d of the Agent Client Protocol, and this server version %d", l.config.Name, v, version)
	}
	l.change(func(s *settings) { s.named(l.config.Name, l.offers.Agent) })
	return nil
}

// begin makes t the turn that updates belong to.
func (l *link) begin(t *turn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn = t
}

// finish ends the turn's part in the conversation and waits for what it still does.
func (l *link) finish(t *turn) {
	l.mu.Lock()
	l.turn = nil
	l.mu.Unlock()
	t.finish()
}

// current returns the turn under way that an update of the named conversation belongs to, and whether the update is a replay.
func (l *link) current(conversation string) (t *turn, replay bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if conversation != l.session {
		return nil, l.replaying
	}
	return l.turn, l.replaying
}

func (l *link) prompt(ctx context.Context, blocks []block) (session.End, error) {
	raw, err := l.conn.Call(ctx, "session/prompt", promptParams{Session: l.session, Prompt: blocks})
	if err != nil {
		return session.End{}, err
	}
	var result promptResult
	if err := read(raw, &result); err != nil {
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

// raw keeps what maps to nothing.
func (l *link) raw(method string, data json.RawMessage) {
	e := session.Event{Type: protocol.Raw, Data: protocol.RawData{Source: "acp", Method: method, Data: data}}
	if err := l.host.Emit(e); err != nil {
		l.host.Logf("keep a message of %s: %v", l.config.Name, err)
	}
}
