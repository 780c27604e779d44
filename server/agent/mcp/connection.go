package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// oldProtocol is asked for after an attempt that failed: some servers do not answer a request of
// the newest protocol that they do not know.
const oldProtocol = "2025-11-25"

// A connection is the connection to one server. Its goroutine runs until the toolbox closes.
type connection struct {
	// Static.
	server  Server
	box     *Toolbox
	settled chan struct{} // closed after the first connection or failure
	once    sync.Once     // closes settled
	changes chan struct{} // the server changed a list; one at most waits

	calls    callTable
	requests sync.WaitGroup // added to under mu, while there is a session

	mu      sync.Mutex
	session *sdk.ClientSession // nil: not connected, no request begins
	offer   offer              // stays after a failure: the tools of a request do not change with it
	problem string             // why it is not connected
}

func newConnection(b *Toolbox, s Server) *connection {
	return &connection{
		server: s, box: b, settled: make(chan struct{}), changes: make(chan struct{}, 1),
		problem: "it has not started yet",
	}
}

func (c *connection) offered() offer {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.offer
}

// begin returns the session of the SDK for a request, which calls end at its end. The error is for
// the model.
func (c *connection) begin() (s *sdk.ClientSession, end func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session == nil {
		return nil, nil, fmt.Errorf("the MCP server %s is not connected: %s", c.server.Name, c.problem)
	}
	c.requests.Add(1)
	return c.session, c.requests.Done, nil
}

// drain refuses requests from now on and waits for running ones. The connection is closed.
func (c *connection) drain() {
	c.mu.Lock()
	c.session, c.problem = nil, "the connection has ended"
	c.mu.Unlock()
	c.requests.Wait()
}

// run keeps the server connected. It reports a failure once, until the server was connected for
// stableTime.
func (c *connection) run(ctx context.Context) {
	defer c.settle()
	if c.server.Problem != "" {
		c.fail(errors.New(c.server.Problem))
		c.box.notice("MCP server %s is not used: %s", c.server.Name, c.server.Problem)
		return
	}
	failures := 0
	for ctx.Err() == nil {
		began := time.Now()
		err := c.serve(ctx, failures)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) >= stableTime {
			failures = 0
		}
		failures++
		delay := backoff(failures)
		c.fail(err)
		if failures == 1 {
			c.box.notice("MCP server %s: %v; agentctl connects again by itself", c.server.Name, err)
		} else {
			c.box.options.Host.Logf("MCP server %s: %v; next attempt in %s", c.server.Name, err, delay)
		}
		select {
		case <-ctx.Done():
		case <-time.After(delay):
		}
	}
}

// backoff returns the time to wait after failures in a row.
func backoff(failures int) time.Duration {
	return min(minBackoff<<min(failures-1, 20), maxBackoff)
}

func (c *connection) settle() { c.once.Do(func() { close(c.settled) }) }

// fail records why the server is not connected.
func (c *connection) fail(err error) {
	c.mu.Lock()
	c.session, c.problem = nil, err.Error()
	c.mu.Unlock()
	c.settle()
}

// serve connects, publishes what the server offers and returns when the connection has ended.
func (c *connection) serve(ctx context.Context, failures int) (err error) {
	l, err := c.server.dial(c.box)
	if err != nil {
		return err
	}
	defer func() {
		l.end()
		if tail := l.stderr(); tail != "" {
			c.box.options.Host.Logf("MCP server %s wrote:\n%s", c.server.Name, tail)
			if err != nil && ctx.Err() == nil {
				err = fmt.Errorf("%w: %s", err, lastLine(tail))
			}
		}
	}()
	s, err := c.connect(ctx, l.transport, failures)
	if err != nil {
		return err
	}
	closed := make(chan error, 1)
	go func() { closed <- s.Wait() }()
	defer func() {
		l.stop() // before Close, which waits for a write to a program that does not read
		_ = s.Close()
		c.drain()
	}()
	err = c.follow(ctx, s, closed)
	if ctx.Err() == nil && err == nil {
		err = errors.New("the server ended the connection")
	}
	return err
}

// connect makes the handshake and reads what the server offers.
func (c *connection) connect(ctx context.Context, t sdk.Transport, failures int) (*sdk.ClientSession, error) {
	timeout := c.server.startTimeout()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	change := func() {
		select {
		case c.changes <- struct{}{}:
		default:
		}
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "agentctl", Version: "1"}, &sdk.ClientOptions{
		// No directory, no requests to the model, no pages to open.
		Capabilities: &sdk.ClientCapabilities{
			Elicitation: &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}},
		},
		ElicitationHandler:          c.elicit,
		ToolListChangedHandler:      func(context.Context, *sdk.ToolListChangedRequest) { change() },
		PromptListChangedHandler:    func(context.Context, *sdk.PromptListChangedRequest) { change() },
		ResourceListChangedHandler:  func(context.Context, *sdk.ResourceListChangedRequest) { change() },
		ProgressNotificationHandler: c.calls.progress,
	})
	var options sdk.ClientSessionOptions
	if failures%2 == 1 {
		options.ProtocolVersion = oldProtocol
	}
	s, err := client.Connect(ctx, t, &options)
	if err == nil {
		if err = c.refresh(ctx, s); err == nil {
			return s, nil
		}
		go func() { _ = s.Close() }() // may wait until the caller has ended the program
	}
	if ctx.Err() == context.DeadlineExceeded {
		return nil, fmt.Errorf("no answer within %s", timeout)
	}
	return nil, fmt.Errorf("connect: %w", c.server.plainError(err))
}

// follow reads the lists again when they change, until the connection ends.
func (c *connection) follow(ctx context.Context, s *sdk.ClientSession, closed <-chan error) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-closed:
			return c.server.plainError(err)
		case <-c.changes:
		}
		list, cancel := context.WithTimeout(ctx, c.server.startTimeout())
		err := c.refresh(list, s)
		cancel()
		if err != nil && ctx.Err() == nil {
			c.box.options.Host.Logf("MCP server %s: read its changed list: %v", c.server.Name, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(changePause):
		case err := <-closed:
			return c.server.plainError(err)
		}
	}
}

// refresh reads what the server offers, and reports once to users what was left out.
func (c *connection) refresh(ctx context.Context, s *sdk.ClientSession) error {
	next, err := c.list(ctx, s)
	if err != nil {
		return err
	}
	c.mu.Lock()
	before := c.offer
	c.session, c.offer, c.problem = s, next, ""
	c.mu.Unlock()
	c.settle()
	if next.leftOut != "" && next.leftOut != before.leftOut {
		c.box.notice("MCP server %s: left out: %s", c.server.Name, next.leftOut)
	}
	if len(next.prompts) > 0 || len(before.prompts) > 0 || !slices.Equal(next.named, before.named) {
		c.box.commandsChanged()
	}
	return nil
}

// plainError returns an error of the SDK as one bounded line, without the URL: it may hold a key.
func (s *Server) plainError(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if s.URL != "" {
		text = strings.ReplaceAll(text, s.URL, "the URL")
	}
	return errors.New(strings.Join(strings.Fields(cut(text, 400)), " "))
}

// lastLine returns the last line of a text, bounded.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return cut(text[strings.LastIndexByte(text, '\n')+1:], 200)
}
