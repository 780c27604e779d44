package wsclient

import (
	"context"
	"encoding/json"
	"iter"
	"sync"

	"agentctl/protocol"
)

// Watch yields the summaries of all sessions, then their changes; after a reconnect what changed meanwhile, with sessions that
// are gone as Deleted. A slow caller gets the newest of each session only. It ends without an error when ctx ends, the caller
// stops or the client is closed; with one when the server refuses.
func (c *Client) Watch(ctx context.Context) iter.Seq2[protocol.Summary, error] {
	return func(yield func(protocol.Summary, error) bool) {
		w := &watcher{ready: make(chan struct{}, 1), news: map[string]protocol.Summary{}, known: map[string]struct{}{}}
		if !c.post(func(l *loop) { l.watch(w) }) {
			return
		}
		defer c.post(func(l *loop) { l.unwatch(w) })
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

// A watcher holds the summaries that its consumer has not seen, one of each session. The loop puts, one consumer takes.
type watcher struct {
	known map[string]struct{} // sessions told of; owned by the loop
	ready chan struct{}       // has room for one: something changed

	mu    sync.Mutex
	order []string // of news, the oldest first
	news  map[string]protocol.Summary
	over  bool
	err   error
}

func (w *watcher) put(s protocol.Summary) {
	if s.Deleted {
		delete(w.known, s.Session)
	} else {
		w.known[s.Session] = struct{}{}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, waits := w.news[s.Session]; !waits {
		w.order = append(w.order, s.Session)
	}
	w.news[s.Session] = s
	w.wake()
}

// list takes the summaries of all sessions: what was known and is not among them is gone.
func (w *watcher) list(all []protocol.Summary) {
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
	s = w.news[w.order[0]]
	delete(w.news, s.Session)
	w.order = w.order[1:]
	return s, true, false, nil
}

func (w *watcher) finish(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over, w.err = true, err
	w.wake()
}

func (w *watcher) wake() {
	select {
	case w.ready <- struct{}{}:
	default:
	}
}

func (l *loop) watch(w *watcher) {
	l.watchers[w] = struct{}{}
	if l.link == nil {
		l.need()
		return
	}
	l.watchAll()
}

func (l *loop) unwatch(w *watcher) {
	if _, ok := l.watchers[w]; !ok {
		return
	}
	delete(l.watchers, w)
	if len(l.watchers) == 0 {
		l.send(&call{
			command: protocol.Command{Command: protocol.DoWatch, Data: protocol.MustEncode(protocol.WatchData{Off: true})},
			answer:  func(*protocol.Answer, error) {},
		})
	}
}

// watchAll asks for all summaries and their changes, for all watchers: hearing one twice does no harm.
func (l *loop) watchAll() {
	if len(l.watchers) == 0 {
		return
	}
	l.send(&call{command: protocol.Command{Command: protocol.DoWatch}, answer: func(a *protocol.Answer, err error) {
		var r protocol.ListResult
		switch {
		case err != nil:
		case a.Error != nil && a.Error.Code == protocol.CodeShuttingDown:
			l.drop(a.Error)
			return
		case a.Error != nil:
			err = a.Error
		default:
			if bad := json.Unmarshal(a.Result, &r); bad != nil {
				err = newDecodeError(a.Result, bad)
			}
		}
		for w := range l.watchers {
			if err != nil {
				delete(l.watchers, w)
				w.finish(err)
				continue
			}
			w.list(r.Sessions)
		}
	}})
}

// summary takes a change of a session's summary.
func (l *loop) summary(in *incoming) {
	var s protocol.Summary
	if err := in.event.Decode(&s); err != nil || s.Session == "" {
		return // a newer server's; the next list tells
	}
	for w := range l.watchers {
		w.put(s)
	}
}
