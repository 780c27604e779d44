package agentprocess

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/eventlog"
)

// Store has the recorded process groups.
type Store interface {
	// ProcessGroups returns the process groups that were recorded and have not ended.
	ProcessGroups(ctx context.Context) ([]agent.ProcessGroup, error)
}

// A Committer commits batches; see eventlog.Committer.
type Committer interface {
	Commit(b *eventlog.Batch) error
}

// Groups are the process groups of agents. Each is recorded in the store until it has ended. The
// methods may be called from any goroutine.
type Groups struct {
	store   Store
	commits Committer
	log     *slog.Logger

	mu      sync.Mutex
	running map[agent.ProcessGroup]bool
}

// New returns an account without process groups.
func New(store Store, commits Committer, log *slog.Logger) *Groups {
	return &Groups{store: store, commits: commits, log: log, running: map[agent.ProcessGroup]bool{}}
}

// KillLeft kills the process groups that a killed server left. It is called before others are
// recorded.
func (p *Groups) KillLeft(ctx context.Context, kill func(agent.ProcessGroup) error) error {
	groups, err := p.store.ProcessGroups(ctx)
	if err != nil {
		return fmt.Errorf("read process groups: %w", err)
	}
	var killing sync.WaitGroup
	for _, g := range groups {
		killing.Go(func() { // concurrently: each may take a grace period
			if err := kill(g); err != nil {
				p.log.Warn("kill left process group", "session", g.Session, "pid", g.PID, "err", err)
			}
			g.Ended = true
			if err := p.commit(g); err != nil {
				p.log.Warn("record the end of a process group", "session", g.Session, "err", err)
			}
		})
	}
	killing.Wait()
	return nil
}

// Record records the start or the end of a process group, and returns when that is committed. A
// start beyond the limit has the code agent_limit.
func (p *Groups) Record(g agent.ProcessGroup, limit int) error {
	if !g.Ended && !p.add(g, limit) {
		return protocol.Exceeded(protocol.CodeAgentLimit, limit,
			"too many agents run: close sessions, or wait until idle agents end")
	}
	err := p.commit(g)
	if err != nil || g.Ended {
		p.remove(g)
	}
	return err
}

func (p *Groups) commit(g agent.ProcessGroup) error {
	return p.commits.Commit(&eventlog.Batch{Session: g.Session, ProcessGroups: []agent.ProcessGroup{g}})
}

// add counts in a process group before its start is recorded. It returns false above the limit.
func (p *Groups) add(g agent.ProcessGroup, limit int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.running) >= limit {
		return false
	}
	p.running[g] = true
	return true
}

// remove counts out a process group at its end.
func (p *Groups) remove(g agent.ProcessGroup) {
	p.mu.Lock()
	defer p.mu.Unlock()
	g.Ended = false
	delete(p.running, g)
}

// Len returns the number of process groups.
func (p *Groups) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.running)
}

// SessionOf returns the session whose agent started a process, known by its number and start time
// or by the number of its process group; empty: none.
func (p *Groups) SessionOf(pid int, start string, group int) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for g := range p.running {
		if g.PID == group || g.PID == pid && g.Start == start {
			return g.Session
		}
	}
	return ""
}
