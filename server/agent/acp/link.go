package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
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
	proc, err := process.Start(process.Command{Args: a.config.Command, Dir: a.spec.CWD, Env: env})
	if err != nil {
		return nil, a.notStarted(err)
	}
	l := &link{config: a.config, host: a.host, proc: proc, gone: make(chan struct{}), replayed: make(chan struct{}, 1)}
	g := proc.Group()
	recorded := a.host.Group(session.Group{Session: a.spec.Session, PID: g.PID, Start: g.Start})
	l.conn = rpc.New(proc.Stdout, proc.Stdin, l)
	go l.watch(session.Group{Session: a.spec.Session, PID: g.PID, Start: g.Start, Ended: true})

	if err = recorded; err != nil {
		err = fmt.Errorf("record process group: %w", err)
	} else if err = l.initialize(ctx); err == nil {
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
func (l *link) watch(g session.Group) {
	defer close(l.gone)
	<-l.proc.Done()
	l.proc.End(0)
	l.conn.Wait()
	l.proc.Release()
	if err := l.host.Group(g); err != nil {
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

// converse takes up the kept conversation where the agent can, else begins a new one and says so.
func (a *Agent) converse(ctx context.Context, l *link, kept state) error {
	params := sessionParams{Session: kept.Session, CWD: a.spec.CWD, Servers: []struct{}{}}
	if kept.Session != "" {
		result, err := l.takeUp(ctx, params)
		if err == nil {
			l.talks(kept.Session, true)
			return l.settle(ctx, result, kept)
		}
		if !refused(err) {
			return err
		}
		a.host.Logf("%s cannot take up conversation %s: %v", a.config.Name, kept.Session, err)
		a.notice("%s was started anew and does not remember what was said before", a.config.Name)
	}
	params.Session = ""
	raw, err := l.conn.Call(ctx, "session/new", params)
	if err != nil {
		return err
	}
	var result sessionResult
	if err := read(raw, &result); err != nil || result.Session == "" {
		return errors.New("session/new: the agent named no session")
	}
	l.talks(result.Session, false)
	if err := a.keep(func(s *state) { s.Session = result.Session }); err != nil {
		return fmt.Errorf("save the conversation's name: %w", err)
	}
	return l.settle(ctx, result, kept)
}

var errNotOffered = errors.New("it offers neither session/resume nor session/load")

// refused reports whether the agent itself said no, a login being wanted apart: that would be wanted for a new one too.
func refused(err error) bool {
	var e *rpc.Error
	return errors.Is(err, errNotOffered) || errors.As(err, &e) && !wantsLogin(err)
}

// takeUp brings a conversation back by session/resume or session/load.
func (l *link) takeUp(ctx context.Context, params sessionParams) (sessionResult, error) {
	var result sessionResult
	method := "session/load"
	switch {
	case l.offers.Capabilities.Session.Resume != nil:
		method = "session/resume"
	case !l.offers.Capabilities.LoadSession:
		return result, errNotOffered
	}
	l.replay(true)
	defer l.replay(false)
	raw, err := l.conn.Call(ctx, method, params)
	if err == nil {
		err = read(raw, &result)
	}
	if err == nil && method == "session/load" {
		err = l.untilReplayed(ctx)
	}
	return result, err
}

// untilReplayed waits until nothing more of the replay comes. Some agents answer a load first and replay then, and nothing
// tells the end, so it is over when the agent has been quiet for a while.
func (l *link) untilReplayed(ctx context.Context) error {
	quiet := time.NewTimer(replayQuiet)
	defer quiet.Stop()
	for {
		select {
		case <-l.replayed:
			quiet.Reset(replayQuiet)
		case <-quiet.C:
			return nil
		case <-l.conn.Done():
			return nil // the next call will say why
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// talks names the conversation.
func (l *link) talks(name string, resumed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.session, l.resumed = name, resumed
}

func (l *link) replay(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.replaying = on
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

// explain says what went wrong between the agent and us, and what to do about it.
func (l *link) explain(err error) error {
	var e *rpc.Error
	switch {
	case wantsLogin(err):
		return protocol.Errorf(protocol.CodeAgentAuth, "%s wants a login first: %s", l.config.Name, l.howToLogIn())
	case errors.As(err, &e):
		return protocol.Errorf(protocol.CodeAgentFailed, "%s: %s", l.config.Name, words(e))
	case errors.Is(err, rpc.ErrClosed):
		how := "ended"
		if exit := l.proc.Err(); exit != nil {
			how = "ended with " + exit.Error()
		}
		return protocol.Errorf(protocol.CodeAgentFailed, "%s %s%s", l.config.Name, how, l.lastWords())
	}
	return err
}

// words finds what an error says to people. Some agents keep it in the error's data, some hand on the JSON of a model's API.
func words(e *rpc.Error) string {
	type told struct {
		Message, Details string
		Error            *struct{ Message string }
	}
	text := e.Message
	var inner told
	if json.Unmarshal([]byte(text), &inner) == nil && inner.Error != nil && inner.Error.Message != "" {
		text = inner.Error.Message
	}
	var data told
	_ = json.Unmarshal(e.Data, &data) // data may be anything, or nothing
	for _, more := range []string{data.Details, data.Message} {
		if more != "" && !strings.Contains(text, more) {
			return text + ": " + more
		}
	}
	return text
}

// lastWords is the end of what the program wrote to its standard error, for an error message.
func (l *link) lastWords() string {
	const most = 1 << 10
	log := l.proc.Log()
	if len(log) > most {
		log = protocol.ValidText(log[len(log)-most:])
		if _, rest, ok := strings.Cut(log, "\n"); ok {
			log = rest
		}
	}
	if log == "" {
		return ""
	}
	return ": " + log
}

// notStarted tells how to get a program that is not there.
func (a *Agent) notStarted(err error) error {
	if errors.Is(err, exec.ErrNotFound) && a.config.Install != "" {
		return protocol.Errorf(protocol.CodeNoAgent, "%s is not installed: %s is not found (%s)",
			a.config.Name, a.config.Command[0], a.config.Install)
	}
	return protocol.Errorf(protocol.CodeNoAgent, "%s cannot be started: %v", a.config.Name, err)
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
