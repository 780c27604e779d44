package hook

import (
	"strings"
	"sync"
)

// A watch collects the sessions whose summary has changed.
type watch struct {
	wake chan struct{}

	mu      sync.Mutex
	changed map[string]bool
}

func newWatch() *watch { return &watch{wake: make(chan struct{}, 1), changed: map[string]bool{}} }

// Notify implements list.Watcher.
func (w *watch) Notify(key string, _ []byte) {
	_, session, _ := strings.Cut(key, " ")
	w.mu.Lock()
	w.changed[session] = true
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// take returns the changed sessions and forgets them.
func (w *watch) take() map[string]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.changed) == 0 {
		return nil
	}
	changed := w.changed
	w.changed = map[string]bool{}
	return changed
}
