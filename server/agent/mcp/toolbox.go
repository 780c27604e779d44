package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/llm"

	"agentctl/internal/format"
)

// A Toolbox holds the tools of a session's servers. It implements llm.Servers.
type Toolbox struct {
	// Static after Open.
	options     Options
	connections []*connection
	opened      time.Time
	stop        context.CancelFunc
	running     sync.WaitGroup

	mu      sync.Mutex
	tools   []llm.Tool // as published to the model
	changed func()     // called for new commands; may be nil
	closed  bool
}

var _ llm.Servers = (*Toolbox)(nil)

// Open starts connecting to the servers and does not wait.
func Open(o Options) *Toolbox {
	ctx, stop := context.WithCancel(context.Background())
	b := &Toolbox{options: o, opened: time.Now(), stop: stop}
	for _, s := range o.Servers {
		c := newConnection(b, s)
		b.connections = append(b.connections, c)
		b.running.Go(func() { c.run(ctx) })
	}
	return b
}

// Prepare implements llm.Servers. It waits until each server has connected or failed, at most firstWait after Open, and
// publishes the tools that are known then. Later changes are published by the next Prepare.
func (b *Toolbox) Prepare(ctx context.Context) error {
	limit, cancel := context.WithDeadline(ctx, b.opened.Add(firstWait))
	defer cancel()
	for _, c := range b.connections {
		select {
		case <-c.settled:
		case <-limit.Done():
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	b.publish()
	return nil
}

// publish sets the tools of the next request: sorted by name, each name once.
func (b *Toolbox) publish() {
	var tools []llm.Tool
	resources := false
	for _, c := range b.connections {
		o := c.offered()
		resources = resources || o.resources
		tools = append(tools, o.tools...)
	}
	slices.SortStableFunc(tools, func(x, y llm.Tool) int { return strings.Compare(x.Name, y.Name) })
	tools = slices.CompactFunc(tools, func(x, y llm.Tool) bool { return x.Name == y.Name })
	if resources {
		tools = append(tools, b.resourceTools()...)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tools = tools
}

// Tools returns the tools for the next request.
func (b *Toolbox) Tools() []llm.Tool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tools
}

// Notify implements llm.Servers.
func (b *Toolbox) Notify(changed func()) {
	b.mu.Lock()
	b.changed = changed
	b.mu.Unlock()
}

// commandsChanged reports that a server's prompts have changed.
func (b *Toolbox) commandsChanged() {
	b.mu.Lock()
	changed, closed := b.changed, b.closed
	b.mu.Unlock()
	if changed != nil && !closed {
		changed()
	}
}

// find returns the connection of a server.
func (b *Toolbox) find(server string) (*connection, error) {
	var names []string
	for _, c := range b.connections {
		if c.server.Name == server {
			return c, nil
		}
		names = append(names, c.server.Name)
	}
	return nil, fmt.Errorf("there is no server %.80q: the servers are %s", server, strings.Join(names, ", "))
}

// notice reports a problem with a server to users.
func (b *Toolbox) notice(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	b.options.Host.Logf("%s", text)
	_ = b.options.Host.Emit(agent.Event{Type: protocol.Notice, Data: protocol.NoticeData{ // fails if the session ends
		Level: protocol.LevelWarning, Message: text,
	}})
}

// shorten bounds a text for the model.
func (b *Toolbox) shorten(text string) string {
	if b.options.Shorten != nil {
		return b.options.Shorten(text)
	}
	return cut(text, maxShown)
}

// Close stops all programs, closes all connections, and waits for both.
func (b *Toolbox) Close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.stop()
	b.running.Wait()
}

// cut returns at most n bytes of a text, with a note if it left something out.
func cut(text string, n int) string {
	return format.Cut(protocol.ValidText(text), n, "\n[the rest was left out]")
}
