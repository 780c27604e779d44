package upkeep

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"agentctl/protocol"
)

// A Retention defines which sessions are removed automatically: sessions without activity for Age,
// all except the Sessions most recently active, and the oldest while the store holds more than
// Bytes. Zero fields remove nothing. A session that is InUse is never removed. After the clock was
// set forward nothing is removed by Age for clockGrace: a wrong clock would remove everything.
type Retention struct {
	Age      time.Duration
	Sessions int
	Bytes    int64
}

// retentionInterval is the time between two checks for sessions to remove.
const retentionInterval = 10 * time.Second

// A session that its creator discards unused is removed unusedAge after its last activity. Without a
// retention, unusedInterval is the time between two checks: an idle server does little.
const (
	unusedAge      = 24 * time.Hour
	unusedInterval = 10 * time.Minute
)

// unused reports whether a session is to be removed because it never got a message.
func unused(s *protocol.Summary, now time.Time) bool {
	return s.DiscardUnused && s.Turns == 0 && now.Sub(s.Updated) >= unusedAge
}

// InUse reports whether a session has a turn, queued or scheduled messages, or a client.
func InUse(s *protocol.Summary) bool {
	return s.Turn != "" || s.Queue > 0 || s.Scheduled != nil || s.Clients > 0
}

// A Remover removes sessions by a retention.
type Remover struct {
	Retention
	Sessions func() []protocol.Summary            // all of them, most recently active first
	Store    Sizer                                // nil: the size is not known
	Remove   func(ctx context.Context, id string) // returns when a session is removed, or stays after all
	Log      *slog.Logger

	clock clock
}

// Run removes sessions until ctx ends.
func (r *Remover) Run(ctx context.Context) {
	interval := retentionInterval
	if r.Retention == (Retention{}) {
		interval = unusedInterval
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-tick.C:
			now := time.Now()
			if r.clock.advance(now.Round(0).Sub(last.Round(0)), now.Sub(last)) {
				r.Log.Warn("the clock was set forward: sessions are removed by their age after some time",
					"by", now.Round(0).Sub(last.Round(0)), "after", clockGrace)
			}
			last = now
			for _, id := range r.Expired(ctx, now) {
				r.Remove(ctx, id)
			}
		case <-ctx.Done():
			return
		}
	}
}

// Expired returns the sessions to remove now. Of a store that is too large it returns one: the size
// is known again after its rows are removed.
func (r *Remover) Expired(ctx context.Context, now time.Time) []string {
	list := slices.DeleteFunc(r.Sessions(), func(s protocol.Summary) bool { return InUse(&s) })
	var ids []string
	for i, s := range list {
		old := r.clock.trusted() && (unused(&s, now) || r.Age > 0 && now.Sub(s.Updated) >= r.Age)
		if old || r.Retention.Sessions > 0 && i >= r.Retention.Sessions {
			ids = append(ids, s.Session)
		}
	}
	if r.Store != nil && r.Bytes > 0 && len(ids) == 0 && len(list) > 0 {
		ctx, cancel := context.WithTimeout(ctx, retentionInterval)
		defer cancel()
		if size, err := r.Store.Size(ctx); err != nil {
			r.Log.Warn("size of the store", "err", err)
		} else if size > r.Bytes {
			ids = append(ids, list[len(list)-1].Session)
		}
	}
	return ids
}
