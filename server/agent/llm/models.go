package llm

import (
	"context"
	"slices"
	"sync"
	"time"

	"agentctl/protocol"
)

// Models knows the models of providers by their names.
type Models interface {
	// Efforts returns the efforts of reasoning of a model, the least first; nil: not known.
	Efforts(name string) []string

	// SameProvider reports whether two names are models of the same provider.
	SameProvider(a, b string) bool

	// List returns the names of the models of the provider of a model. It may request them.
	List(ctx context.Context, name string) ([]string, error)
}

const (
	listTimeout = 10 * time.Second // of the request for the models of a provider
	maxListed   = 300              // models that users choose from
)

// A modelMenu is the models that users of a session choose from: the configured ones, or all of the
// provider if only one is configured.
type modelMenu struct {
	source Models // nil: none
	names  []string
	all    bool // of the provider

	mu     sync.Mutex
	listed []string           // of the provider
	stop   context.CancelFunc // of the request for the list; nil: it did not begin

	done sync.WaitGroup
}

func newModelMenu(o *Options) *modelMenu {
	m := &modelMenu{source: o.Models, all: len(o.Config.Models) == 0}
	for _, name := range append([]string{o.Config.Model}, o.Config.Models...) {
		if !slices.Contains(m.names, name) {
			m.names = append(m.names, name)
		}
	}
	return m
}

// load requests the models of the provider in the background, once, and calls loaded if there are some.
func (m *modelMenu) load(loaded func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.all || m.source == nil || m.stop != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), listTimeout)
	m.stop = cancel
	m.done.Go(func() {
		defer cancel()
		listed, err := m.source.List(ctx, m.names[0])
		if err != nil || ctx.Err() != nil || len(listed) == 0 {
			return // the menu is for convenience: a name that is not in it can be chosen too
		}
		m.mu.Lock()
		m.listed = listed[:min(len(listed), maxListed)]
		m.mu.Unlock()
		loaded()
	})
}

// close stops the request for the list, and waits for its end.
func (m *modelMenu) close() {
	m.mu.Lock()
	stop := m.stop
	m.stop = nil
	m.mu.Unlock()
	if stop != nil {
		stop()
	}
	m.done.Wait()
}

// choices returns the choices of the setting.
func (m *modelMenu) choices() (choices []protocol.Choice) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range append(slices.Clone(m.names), m.listed...) {
		if !slices.ContainsFunc(choices, func(c protocol.Choice) bool { return c.ID == name }) {
			choices = append(choices, protocol.Choice{ID: name, Label: name})
		}
	}
	return choices
}

// allows reports whether users may choose a model that is not among the choices: one of the same provider.
func (m *modelMenu) allows(name string) bool {
	return m.all && m.source != nil && m.source.SameProvider(name, m.names[0])
}

// efforts returns the efforts of reasoning of a model.
func (m *modelMenu) efforts(name string) []string {
	if m.source != nil {
		if listed := m.source.Efforts(name); listed != nil {
			return listed
		}
	}
	return usualEfforts
}

// The efforts of reasoning, the least first. Most models have the usual ones.
var (
	efforts      = []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}
	usualEfforts = efforts[2:5]
)

// fitEffort returns the effort of a list that is nearest to one of another model: the next lower, or the least.
// Empty stays empty.
func fitEffort(effort string, listed []string) (fit string) {
	if effort == "" {
		return ""
	}
	for _, e := range listed {
		if fit == "" || slices.Index(efforts, e) <= slices.Index(efforts, effort) {
			fit = e
		}
	}
	return fit
}
