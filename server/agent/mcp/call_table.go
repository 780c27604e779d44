package mcp

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentctl/server/agent/llm"
)

// A callTable holds the pending calls on a connection, by progress token.
type callTable struct {
	mu   sync.Mutex
	next int
	open map[string]*openCall
}

// A caller waits for a call.
type caller struct {
	out  func(text string) // gets texts of progress
	tool string            // that is called; empty: none
	ask  llm.Asker         // asks users during the call; nil: it cannot
}

// An openCall is a pending call.
type openCall struct {
	caller

	number   int
	progress chan string
	asks     chan bool     // users are asked; they have answered
	failed   chan error    // why the call must end
	done     chan struct{} // closed at its end
}

// begin returns a token for a call. The caller of it calls end.
func (t *callTable) begin(by caller) (token string, c *openCall, end func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next++
	c = &openCall{
		caller: by, number: t.next, progress: make(chan string, 16), asks: make(chan bool),
		failed: make(chan error, 1), done: make(chan struct{}),
	}
	token = "agentctl-" + strconv.Itoa(t.next)
	if t.open == nil {
		t.open = map[string]*openCall{}
	}
	t.open[token] = c
	return token, c, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.open, token)
		close(c.done)
	}
}

// oldest returns the oldest call that can ask users, or nil.
func (t *callTable) oldest() (found *openCall) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.open {
		if c.ask != nil && (found == nil || c.number < found.number) {
			found = c
		}
	}
	return found
}

// pause stops the time of the call while users are asked, until resume.
func (c *openCall) pause() (resume func()) {
	send := func(asks bool) {
		select {
		case c.asks <- asks:
		case <-c.done:
		}
	}
	send(true)
	return func() { send(false) }
}

// fail ends the call with an error.
func (c *openCall) fail(err error) {
	select {
	case c.failed <- err:
	default: // it ends already
	}
}

// progress passes on the progress of a call. It drops progress that the call does not accept in
// time.
func (t *callTable) progress(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
	token, ok := r.Params.ProgressToken.(string)
	if !ok {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.open[token]
	if c == nil {
		return
	}
	select {
	case c.progress <- progressText(r.Params):
	default:
	}
}

// progressText returns progress as one line.
func progressText(p *sdk.ProgressNotificationParams) string {
	text := cut(p.Message, 200)
	switch {
	case p.Total > 0:
		text = fmt.Sprintf("%g of %g %s", p.Progress, p.Total, text)
	case text == "":
		text = fmt.Sprintf("%g", p.Progress)
	}
	return text
}

// A request sends a request of a call, whose progress has the token.
type request[T any] func(ctx context.Context, s *sdk.ClientSession, token string) (T, error)

// run runs a request until it ends, the context ends or it is late. Progress extends its time, and
// while users are asked it has no end. It fails if the server is not connected.
func run[T any](ctx context.Context, c *connection, by caller, send request[T]) (T, error) {
	var none T
	s, ended, err := c.begin()
	if err != nil {
		return none, err
	}
	type answer struct {
		value T
		err   error
	}
	token, call, end := c.calls.begin(by)
	defer end()
	ctx, cancel := context.WithCancel(context.WithValue(ctx, callKey{}, call))
	defer cancel()
	answers := make(chan answer, 1)
	go func() { // on another goroutine: a write to a program that does not read blocks
		defer ended()
		v, err := send(ctx, s, token)
		answers <- answer{v, err}
	}()
	limit := c.server.callTimeout()
	timer, last := time.NewTimer(limit), time.NewTimer(max(maxCall, limit))
	defer timer.Stop()
	defer last.Stop()
	for n, asking := 0, 0; ; {
		select {
		case a := <-answers:
			return a.value, c.server.plainError(a.err)
		case text := <-call.progress:
			if asking == 0 {
				timer.Reset(limit)
			}
			if n++; n <= maxProgress {
				by.out(text + "\n")
			}
		case begins := <-call.asks:
			if asking--; begins {
				asking += 2
			}
			if timer.Stop(); asking == 0 {
				timer.Reset(limit)
			}
			last.Reset(max(maxCall, limit))
		case err := <-call.failed:
			return none, err
		case <-ctx.Done():
			return none, ctx.Err()
		case <-timer.C:
			return none, fmt.Errorf("the MCP server %s did not answer within %s", c.server.Name, limit)
		case <-last.C:
			if asking > 0 {
				continue
			}
			return none, fmt.Errorf("the MCP server %s did not answer within %s", c.server.Name, maxCall)
		}
	}
}
