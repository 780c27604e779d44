package wsclient

import (
	"context"
	"iter"
	"sync"

	"agentctl/protocol"
)

// Watch yields the summaries of all sessions and then their changes. After a reconnect it yields
// what has changed since; deleted sessions have Deleted set. A slow caller gets only the newest
// summary of each session. Watch ends without an error when ctx ends, the caller stops or the
// client is closed, and with an error if the server refuses, the connection fails for good or the
// answer cannot be decoded.
func (c *Client) Watch(ctx context.Context) iter.Seq2[protocol.Summary, error] {
	return func(yield func(protocol.Summary, error) bool) {
		w := &watcher{
			ready: make(chan struct{}, 1), pending: map[string]protocol.Summary{}, known: map[string]struct{}{},
		}
		if !c.post(func(l *eventLoop) { l.watch(w) }) {
			return
		}
		defer c.post(func(l *eventLoop) { l.unwatch(w) })
		for ctx.Err() == nil {
			s, ok, over, err := w.take()
			switch {
			case ok:
				if !yield(s, nil) {
					return
				}
			case over:
				if err != nil {
					yield(protocol.Summary{}, err)
				}
				return
			default:
				select {
				case <-w.ready:
				case <-ctx.Done():
				}
			}
		}
	}
}

// A watcher buffers the newest unseen summary of each session. The event loop puts, one consumer
// takes.
type watcher struct {
	known map[string]struct{} // reported, existing sessions; owned by the event loop
	ready chan struct{}       // capacity 1; signals a change

	mu      sync.Mutex
	order   []string // keys of pending, oldest first
	pending map[string]protocol.Summary
	over    bool
	err     error
}

func (w *watcher) put(s protocol.Summary) {
	if s.Deleted {
		delete(w.known, s.Session)
	} else {
		w.known[s.Session] = struct{}{}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, pending := w.pending[s.Session]; !pending {
		w.order = append(w.order, s.Session)
	}
	w.pending[s.Session] = s
	signal(w.ready)
}

// replaceAll puts the summaries of all sessions and reports known sessions not among them as
// deleted.
func (w *watcher) replaceAll(all []protocol.Summary) {
	gone := w.known
	w.known = make(map[string]struct{}, len(all))
	for _, s := range all {
		delete(gone, s.Session)
		w.put(s)
	}
	for id := range gone {
		w.put(protocol.Summary{Session: id, Deleted: true})
	}
}

func (w *watcher) take() (s protocol.Summary, ok, over bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.order) == 0 {
		return s, false, w.over, w.err
	}
	s = w.pending[w.order[0]]
	delete(w.pending, s.Session)
	w.order = w.order[1:]
	return s, true, false, nil
}

func (w *watcher) finish(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over, w.err = true, err
	signal(w.ready)
}

func (l *eventLoop) watch(w *watcher) {
	l.watchers[w] = struct{}{}
	if l.conn == nil {
		l.connector.ensure()
		return
	}
	l.sendWatch()
}

func (l *eventLoop) unwatch(w *watcher) {
	if _, ok := l.watchers[w]; !ok {
		return
	}
	delete(l.watchers, w)
	if len(l.watchers) == 0 {
		off := protocol.MustEncode(protocol.WatchData{Off: true})
		l.sendOnly(protocol.Command{Command: protocol.DoWatch, Data: off})
	}
}

// sendWatch requests all summaries and their changes on behalf of all watchers. Sending it again
// for a new watcher is harmless.
func (l *eventLoop) sendWatch() {
	if len(l.watchers) == 0 {
		return
	}
	l.send(&request{command: protocol.Command{Command: protocol.DoWatch}, done: l.handleWatchAnswer})
}

func (l *eventLoop) handleWatchAnswer(a *protocol.Answer, err error) {
	var r protocol.ListResult
	if err == nil {
		if err = decodeAnswer(a, &r); protocol.CodeOf(err) == protocol.CodeShuttingDown {
			l.drop(err)
			return
		}
	}
	if err != nil {
		l.endWatches(err)
		return
	}
	for w := range l.watchers {
		w.replaceAll(r.Sessions)
	}
}

// endWatches ends all watches; a nil err means the close of the client.
func (l *eventLoop) endWatches(err error) {
	for w := range l.watchers {
		delete(l.watchers, w)
		w.finish(err)
	}
}

// applySummary passes a changed summary to all watchers.
func (l *eventLoop) applySummary(in *incoming) {
	var s protocol.Summary
	if err := in.event.Decode(&s); err != nil || s.Session == "" {
		return // from a newer server; the next list corrects it
	}
	for w := range l.watchers {
		w.put(s)
	}
}
