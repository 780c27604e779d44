package hook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"agentctl/protocol"
	"agentctl/server/eventlog"
	"agentctl/server/session/list"
)

// Sessions lists the sessions of a server; list.List implements it.
type Sessions interface {
	Watch(w list.Watcher) []protocol.Summary
	Unwatch(w list.Watcher)
	Summary(id string) (protocol.Summary, bool)
}

// Requests gives access to agents' requests; session.Hub implements it.
type Requests interface {
	// Pending returns the pending requests of a session.
	Pending(ctx context.Context, id string) ([]protocol.Approval, error)

	// Decide decides the request with a digest; see session.Hub.Decide.
	Decide(ctx context.Context, id, digest string, d *protocol.ApproveData, by protocol.Actor) error
}

// Store is the part of a session.Store that hooks read.
type Store interface {
	eventlog.Reader
	Turns(ctx context.Context, id string, before uint64, limit int) ([]eventlog.TurnRow, error)
}

// Config configures Hooks.
type Config struct {
	Dir   string // for the files of hooks; made with the first hook
	Hooks []Hook

	Sessions Sessions
	Requests Requests
	Store    Store
	Log      *slog.Logger

	newSender func(*Hook) sender // nil: to the URL or the command
}

// Hooks are the hooks of a server. The methods may be called from any goroutine; nil has no hooks.
type Hooks struct {
	cfg     Config
	links   *linkStore
	linking atomic.Pointer[linking]

	changing sync.Mutex // guards active and closed
	active   map[string]*activeHook
	closed   bool
}

// An activeHook is a hook and the goroutine of its runner.
type activeHook struct {
	hook   Hook // with defaults
	runner *runner
	stop   context.CancelFunc
	done   chan struct{} // closed when the runner has ended
}

// A linking holds the data of the hooks that the pages of links need.
type linking struct {
	origins map[string]bool // of pages with links; empty: no links
	hooks   map[string]bool // whose links are valid
}

// Start starts the hooks.
func Start(cfg Config) (*Hooks, error) {
	h := &Hooks{
		cfg: cfg, active: map[string]*activeHook{}, links: &linkStore{dir: filepath.Join(cfg.Dir, "links")},
	}
	h.linking.Store(&linking{})
	h.links.prune(time.Now())
	if err := h.Replace(cfg.Hooks); err != nil {
		return nil, errors.Join(err, h.Close(context.Background()))
	}
	return h, nil
}

// Replace replaces the hooks. An unchanged hook continues. A changed hook restarts at the position
// that it had reached. If the list has a hook that cannot run, all hooks stay as they are.
func (h *Hooks) Replace(list []Hook) error {
	next := map[string]Hook{}
	for _, hook := range list {
		if err := errors.Join(hook.Check(), hook.CheckSecret()); err != nil {
			return fmt.Errorf("hooks.%s: %w", hook.Name, err)
		}
		hook.defaults()
		next[hook.Name] = hook
	}
	h.changing.Lock()
	defer h.changing.Unlock()
	if h.closed {
		return nil
	}
	if len(next) > 0 {
		if err := os.MkdirAll(h.links.dir, 0o700); err != nil {
			return fmt.Errorf("hooks: %w", err)
		}
	}
	var errs []error
	changed := func(a *activeHook) bool { return !reflect.DeepEqual(next[a.hook.Name], a.hook) }
	former, _ := h.end(context.Background(), changed)
	for _, name := range slices.Sorted(maps.Keys(next)) {
		if h.active[name] != nil {
			continue
		}
		err := h.start(next[name])
		if old := former[name]; err != nil && old != nil {
			err = errors.Join(err, h.start(old.hook))
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("hooks.%s: %w", name, err))
		}
	}
	h.setLinking()
	return errors.Join(errs...)
}

// end stops the hooks that match and returns them when they have stopped, or an error with ctx.
func (h *Hooks) end(ctx context.Context, match func(*activeHook) bool) (map[string]*activeHook, error) {
	ended := map[string]*activeHook{}
	for name, a := range h.active {
		if match(a) {
			ended[name] = a
			delete(h.active, name)
			a.stop()
		}
	}
	for name, a := range ended {
		select {
		case <-a.done:
		case <-ctx.Done():
			return ended, fmt.Errorf("wait for hook %s: %w", name, context.Cause(ctx))
		}
	}
	return ended, nil
}

func (h *Hooks) start(hook Hook) error {
	r, err := h.newRunner(hook)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	a := &activeHook{hook: hook, runner: r, stop: stop, done: make(chan struct{})}
	h.active[hook.Name] = a
	go func() {
		defer close(a.done)
		r.run(ctx)
	}()
	return nil
}

func (h *Hooks) newRunner(hook Hook) (*runner, error) {
	p, err := openPositions(filepath.Join(h.cfg.Dir, hook.Name+".positions"))
	if err != nil {
		return nil, err
	}
	r := &runner{
		hook: &hook, log: h.cfg.Log, sessions: h.cfg.Sessions, requests: h.cfg.Requests, links: h.links,
		changes: list.NewChanges(), deadlines: map[string]time.Time{},
		reader:   &reader{sessions: h.cfg.Sessions, store: h.cfg.Store, filter: &hook.Filter},
		delivery: delivery{results: make(chan result, 1)}, progress: progress{positions: p},
	}
	switch {
	case h.cfg.newSender != nil:
		r.sender = h.cfg.newSender(&hook)
	case hook.URL != "":
		r.sender = newPoster(&hook)
	default:
		r.sender = newCommander(&hook)
	}
	r.begin(r.sessions.Watch(r.changes))
	return r, nil
}

// setLinking publishes the hooks with links.
func (h *Hooks) setLinking() {
	l := &linking{origins: map[string]bool{}, hooks: map[string]bool{}}
	for name, a := range h.active {
		if base := a.hook.Links.Base; base != "" {
			l.origins[originOf(base)], l.hooks[name] = true, true
		}
	}
	h.linking.Store(l)
}

// Close stops the hooks and their commands. Unsent notifications are sent after the next start.
// When ctx ends first, Close leaves a hook that has not stopped, which is an error.
func (h *Hooks) Close(ctx context.Context) error {
	if h == nil {
		return nil
	}
	h.changing.Lock()
	defer h.changing.Unlock()
	h.closed = true
	_, err := h.end(ctx, func(*activeHook) bool { return true })
	return err
}

func originOf(raw string) string {
	scheme, rest, _ := strings.Cut(raw, "://")
	host, _, _ := strings.Cut(rest, "/")
	return strings.ToLower(scheme + "://" + host)
}
