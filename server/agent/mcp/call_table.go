package mcp

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A callTable has the calls under way on a connection, by their progress token.
type callTable struct {
	running sync.WaitGroup

	mu   sync.Mutex
	next int
	open map[string]chan<- string // texts of progress
}

// begin returns a token for a call, and the channel of its progress.
func (t *callTable) begin() (token string, progress <-chan string, end func()) {
	ch := make(chan string, 16)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next++
	token = "agentctl-" + strconv.Itoa(t.next)
	if t.open == nil {
		t.open = map[string]chan<- string{}
	}
	t.open[token] = ch
	return token, ch, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.open, token)
	}
}

// progress passes the progress of a call on. It drops what a call does not take in time.
func (t *callTable) progress(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
	token, ok := r.Params.ProgressToken.(string)
	if !ok {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	ch := t.open[token]
	if ch == nil {
		return
	}
	select {
	case ch <- progressText(r.Params):
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

// wait waits for the calls that run. The connection is closed.
func (t *callTable) wait() { t.running.Wait() }

// run runs a request until it ends, the context ends or it is late. Progress extends its time.
func run[T any](
	ctx context.Context, c *connection, out func(string), send func(ctx context.Context, token string) (T, error),
) (T, error) {
	type answer struct {
		value T
		err   error
	}
	token, progress, end := c.calls.begin()
	defer end()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answers := make(chan answer, 1)
	c.calls.running.Go(func() { // beside: a write to a program that does not read blocks
		v, err := send(ctx, token)
		answers <- answer{v, err}
	})
	limit := c.server.callTimeout()
	timer, last := time.NewTimer(limit), time.NewTimer(max(maxCall, limit))
	defer timer.Stop()
	defer last.Stop()
	var none T
	for n := 0; ; {
		select {
		case a := <-answers:
			return a.value, c.server.plainError(a.err)
		case text := <-progress:
			timer.Reset(limit)
			if n++; n <= maxProgress {
				out(text + "\n")
			}
		case <-ctx.Done():
			return none, ctx.Err()
		case <-timer.C:
			return none, fmt.Errorf("the MCP server %s did not answer within %s", c.server.Name, limit)
		case <-last.C:
			return none, fmt.Errorf("the MCP server %s did not answer within %s", c.server.Name, maxCall)
		}
	}
}
