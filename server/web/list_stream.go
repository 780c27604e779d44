package web

import (
	"net/http"
	"sync"
	"time"

	"agentctl/protocol"
)

// listEvents streams the session list: an event "list" with all sessions, then a session.summary
// event for each change, the newest of each session. Summaries have no position: a stream that
// begins again begins with the list.
func (a *api) listEvents(w http.ResponseWriter, r *http.Request, _ *Route) {
	s := newStream(r.Context(), w)
	defer s.close()
	if r.Method == http.MethodHead {
		return
	}
	watcher := &listWatcher{lines: map[string][]byte{}, wake: make(chan struct{}, 1)}
	list := a.Hub.Sessions().Watch(watcher)
	defer a.Hub.Sessions().Unwatch(watcher)
	s.event(sseList, "", protocol.MustEncode(protocol.ListResult{Sessions: list}))
	s.flush()
	ping := time.NewTicker(ssePing)
	defer ping.Stop()
	for s.err == nil {
		select {
		case <-watcher.wake:
			for _, line := range watcher.take() {
				s.event("", "", line)
			}
			s.flush()
		case <-ping.C:
			s.ping()
		case <-r.Context().Done():
			s.fail(Ended(r.Context()))
			return
		}
	}
}

// A listWatcher holds the newest summary of each session that changed.
type listWatcher struct {
	wake chan struct{}

	mu    sync.Mutex
	keys  []string // in the order of the first change
	lines map[string][]byte
}

// Notify implements list.Watcher.
func (l *listWatcher) Notify(key string, line []byte) {
	l.mu.Lock()
	if l.lines[key] == nil {
		l.keys = append(l.keys, key)
	}
	l.lines[key] = line
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// take returns the lines and forgets them.
func (l *listWatcher) take() [][]byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	var lines [][]byte
	for _, key := range l.keys {
		lines = append(lines, l.lines[key])
	}
	l.keys = nil
	clear(l.lines)
	return lines
}
