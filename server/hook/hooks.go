package hook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"agentctl/protocol"
	"agentctl/server/session"
)

// Sessions are the sessions of a server; session.Hub implements it.
type Sessions interface {
	Watch(w session.Watcher) []protocol.Summary
	Unwatch(w session.Watcher)
	Summary(id string) (protocol.Summary, bool)

	// Pending returns the pending requests of a session.
	Pending(ctx context.Context, id string) ([]protocol.Approval, error)

	// Decide decides the request with a digest; see session.Hub.Decide.
	Decide(ctx context.Context, id, digest string, d *protocol.ApproveData, by protocol.Actor) error
}

// Store is the part of a session.Store that hooks read.
type Store interface {
	Read(
		ctx context.Context, id string, after, through uint64, folded bool, most int, dst []byte,
	) ([]byte, uint64, error)
	Turns(ctx context.Context, id string, before uint64, limit int) ([]session.TurnRow, error)
}

// Config configures Hooks.
type Config struct {
	Dir   string // for the files of hooks; made if it is missing
	Hooks []Hook

	Sessions Sessions
	Store    Store
	Log      *slog.Logger
}

// Hooks are the hooks of a server. The methods may be called from any goroutine; nil has no hooks.
type Hooks struct {
	sessions Sessions
	log      *slog.Logger
	links    *linkStore
	origins  map[string]bool // of pages with links; empty: there are no links

	deciding sync.Mutex // held while a link is used
	stop     context.CancelFunc
	running  sync.WaitGroup
}

// Start starts the hooks.
func Start(cfg Config) (*Hooks, error) {
	links := filepath.Join(cfg.Dir, "links")
	if err := os.MkdirAll(links, 0o700); err != nil {
		return nil, fmt.Errorf("hooks: %w", err)
	}
	h := &Hooks{
		sessions: cfg.Sessions, log: cfg.Log, links: &linkStore{dir: links}, origins: map[string]bool{},
	}
	h.links.prune(time.Now())
	var runners []*runner
	for i := range cfg.Hooks {
		r, err := h.newRunner(&cfg, cfg.Hooks[i])
		if err != nil {
			for _, started := range runners {
				started.finish()
			}
			return nil, fmt.Errorf("hooks.%s: %w", cfg.Hooks[i].Name, err)
		}
		runners = append(runners, r)
	}
	ctx, stop := context.WithCancel(context.Background())
	h.stop = stop
	for _, r := range runners {
		h.running.Go(func() { r.run(ctx) })
	}
	return h, nil
}

func (h *Hooks) newRunner(cfg *Config, hook Hook) (*runner, error) {
	if err := errors.Join(hook.Check(), hook.CheckSecret()); err != nil {
		return nil, err
	}
	hook.defaults()
	if hook.Links.Base != "" {
		h.origins[originOf(hook.Links.Base)] = true
	}
	p, found, err := openPositions(filepath.Join(cfg.Dir, hook.Name+".positions"))
	if err != nil {
		return nil, err
	}
	if !found {
		p.at = nil
	}
	r := &runner{
		hook: &hook, log: cfg.Log, sessions: cfg.Sessions, links: h.links, watch: newWatch(),
		deadlines: map[string]time.Time{},
		reader:    &reader{sessions: cfg.Sessions, store: cfg.Store, filter: &hook.Filter},
		delivery:  delivery{results: make(chan result, 1)}, progress: progress{positions: p},
	}
	if hook.URL != "" {
		r.sender = newPoster(&hook)
	} else {
		r.sender = newCommander(&hook)
	}
	r.begin(cfg.Sessions.Watch(r.watch))
	return r, nil
}

// Close stops the hooks and ends their commands. What was not sent is sent after the next start.
func (h *Hooks) Close() {
	if h == nil {
		return
	}
	h.stop()
	h.running.Wait()
}

// originOf returns the origin of a valid URL.
func originOf(raw string) string {
	scheme, rest, _ := strings.Cut(raw, "://")
	host, _, _ := strings.Cut(rest, "/")
	return strings.ToLower(scheme + "://" + host)
}
