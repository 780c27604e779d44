package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
)

const (
	innerGrace = 8 * time.Second // for a canceled agent to return before it is closed
	maxAnswer  = 256 << 10       // bytes of an answer that are kept
)

var errInnerOver = errors.New("the turn of the agent is over")

// An inner is an agent of the pipeline with its session: one conversation without a log. Its
// events, requests and usage go to the session of the pipeline. One goroutine prompts at a time;
// the other methods are called from any goroutine.
type inner struct {
	agent.Host // of the session; static, as the fields up to busy after openInner

	run    *run
	role   string
	task   protocol.Task // that it solves; zero: none
	name   string        // of its conversation, unique in the turn
	prefix string        // of its ids, unique in the session
	agent  agent.Agent
	limits *Limits // of all its turns
	stop   context.CancelCauseFunc

	attempt *attempt // at task; nil: none

	resumed bool // its first turn continues after a restart
	shown   []agent.ShownText

	busy chan struct{} // capacity 1; held during a prompt

	mu       sync.Mutex // guards the fields below
	turns    int
	running  bool // a turn runs: output is accepted
	quiet    bool // the turn is not shown
	answer   answer
	open     []openItem
	files    map[string]*toolFiles // of open calls of tools, if it solves a task
	spent    spending
	reported bool     // usage by events; else by the ends of turns
	reasons  []string // of decisions, for an agent that gets none with verdicts
}

var (
	_ agent.Host   = (*inner)(nil)
	_ agent.Output = (*inner)(nil)
)

// openInner opens an agent for a role. stop is called when it uses more than the limits allow.
func (r *run) openInner(
	role, name string, t protocol.Task, id string, limits *Limits, stop context.CancelCauseFunc,
) (*inner, error) {
	in := &inner{
		Host: r.agent.host, run: r, role: role, task: t, name: id, prefix: r.turn.ID + "/" + id + "/",
		limits: limits, stop: stop, busy: make(chan struct{}, 1),
	}
	state, err := r.restore(in)
	if err != nil {
		return nil, err
	}
	agent, err := r.agent.openRole(name, in, state)
	if err != nil {
		return nil, fmt.Errorf("open the %s: %w", role, err)
	}
	in.agent = agent
	if !r.agent.addInner(in) {
		_ = agent.Close() // it runs nothing yet
		return nil, r.agent.errIsClosed()
	}
	if t.ID != "" {
		in.attempt = r.changed.begin(&t)
	}
	return in, nil
}

func (in *inner) close() {
	if in.attempt != nil {
		in.run.changed.finish(in.attempt)
	}
	if err := in.agent.Close(); err != nil {
		in.Logf("close: %v", err)
	}
	in.run.agent.removeInner(in)
}

// prompt runs a turn of the agent with a message and returns its answer. Reasons of decisions that
// the agent could not take follow as messages. Events of a turn that is not shown are dropped.
func (in *inner) prompt(ctx context.Context, m protocol.Message, shown bool) (string, error) {
	select {
	case in.busy <- struct{}{}:
		defer func() { <-in.busy }()
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	in.mu.Lock()
	in.quiet = !shown
	in.mu.Unlock()
	for {
		if err := in.runTurn(ctx, m); err != nil {
			return "", err
		}
		in.mu.Lock()
		answer, reasons := in.answer.text(), in.reasons
		in.reasons = nil
		in.mu.Unlock()
		if len(reasons) == 0 {
			return answer, nil
		}
		m = protocol.Message{Text: strings.Join(reasons, "\n")}
	}
}

// runTurn runs one turn. It returns the cause of ctx if that ended.
func (in *inner) runTurn(ctx context.Context, m protocol.Message) error {
	in.mu.Lock()
	in.turns++
	turn := agent.Turn{ID: strconv.Itoa(in.turns), Message: m} // its ids get the prefix
	turn.Message.MessageID = in.prefix + turn.ID
	if in.running = true; in.resumed && in.turns == 1 {
		turn.Resumed, turn.Shown = true, in.shown
	} else {
		in.answer = answer{}
	}
	in.mu.Unlock()

	turnCtx, cancel := context.WithCancel(ctx)
	defer cancel() // its requests
	returned := make(chan struct{})
	var end agent.End
	var err error
	go func() {
		defer close(returned)
		end, err = in.agent.Run(turnCtx, turn, in)
	}()
	select {
	case <-returned:
	case <-ctx.Done():
		select {
		case <-returned:
		case <-time.After(innerGrace):
			in.Logf("did not stop within %v: closing it", innerGrace)
			_ = in.agent.Close() // closed again, and logged, by close
			<-returned
		}
	}
	in.mu.Lock()
	in.running = false
	open := in.open
	in.open, in.files = nil, nil
	if end.Usage != nil && !in.reported {
		in.spent.add(spending{*end.Usage, 1})
	}
	in.mu.Unlock()
	in.closeItems(ctx, open)
	in.run.checkLimits(in)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return endError(end, err)
}

// endError returns the error for a turn that did not complete.
func endError(end agent.End, err error) error {
	switch {
	case err != nil:
		return err
	case end.Reason == "", end.Reason == protocol.ReasonCompleted:
		return nil
	case end.Limit != nil:
		return &agent.LimitError{Limit: *end.Limit, Message: end.Message}
	case end.Reason == protocol.ReasonError:
		return protocol.Errorf(cmp.Or(end.Code, protocol.CodeAgentFailed), "%s", end.Message)
	}
	message := strings.TrimSpace(fmt.Sprintf("the turn ended with %s. %s", end.Reason, end.Message))
	return protocol.Errorf(protocol.CodeAgentFailed, "%s", message)
}

// stageError names the agent of a stage in an error that ends the turn.
func stageError(role string, err error) error {
	var limit *limitError
	if errors.As(err, &limit) || errors.Is(err, errClosed) {
		return err
	}
	var limited *agent.LimitError
	if errors.As(err, &limited) {
		limited.Message, limited.TookIn = fmt.Sprintf("the %s failed: %s", role, limited.Message), role != plannerRole
		return limited
	}
	return protocol.Errorf(cmp.Or(codeOf(err), protocol.CodeAgentFailed), "the %s failed: %v", role, err)
}

// codeOf returns the code of a protocol error, else "".
func codeOf(err error) protocol.Code {
	var coded *protocol.Error
	var limited *agent.LimitError
	switch {
	case errors.As(err, &coded):
		return coded.Code
	case errors.As(err, &limited):
		return protocol.CodeLimited
	}
	return ""
}

func (in *inner) spending() spending {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.spent
}

// Ask implements agent.Output: the session of the pipeline decides.
func (in *inner) Ask(ctx context.Context, a protocol.Approval) (agent.Verdict, error) {
	a.Request, a.Tool = in.id(a.Request), in.id(a.Tool)
	if in.task.ID != "" {
		a.Task = in.task.ID
		a.Why = strings.TrimSpace("Task: " + in.task.Title + "\n" + a.Why)
	}
	v, err := in.run.out.Ask(ctx, a)
	if err == nil && v.Reason != "" && !in.agent.Capabilities().TakesReason {
		in.mu.Lock()
		in.reasons = append(in.reasons, v.Reason)
		in.mu.Unlock()
	}
	return v, err
}

// id returns an id of the agent as one of the session.
func (in *inner) id(id string) string {
	if id == "" {
		return ""
	}
	return in.prefix + id
}

// Transcript implements agent.Host: an inner agent has no earlier conversation.
func (in *inner) Transcript(context.Context, int) (string, error) { return "", nil }

// RecordConversation implements agent.Host.
func (in *inner) RecordConversation(string, string) error { return nil }

// Logf implements agent.Host.
func (in *inner) Logf(format string, args ...any) {
	in.Host.Logf("%s: "+format, append([]any{in.role}, args...)...)
}
