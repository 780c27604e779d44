package hook

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"agentctl/protocol"
	"agentctl/server/session/approval"
	"agentctl/server/session/list"
)

// A runner runs one hook. Its goroutine owns every field; only a running attempt also reads hook,
// reader, sender and links.
type runner struct {
	hook     *Hook
	log      *slog.Logger
	sessions Sessions
	requests Requests
	reader   *reader
	sender   sender
	links    *linkStore
	changes  *list.Changes

	progress  progress
	queue     []occurrence // to notify of; the first may be in delivery
	delivery  delivery
	deadlines map[string]time.Time // of pending requests, by session: when to look
}

// A delivery is the state of sending the first occurrence of the queue.
type delivery struct {
	busy     bool
	results  chan result // of the current attempt; capacity 1
	body     []byte      // nil: not built
	id       string
	failures int       // of this occurrence
	refused  int       // failures that count
	retryAt  time.Time // zero: now
	dropped  int       // beyond the backlog, since the last success
}

// A result is the end of an attempt.
type result struct {
	id   string
	body []byte
	err  error
}

// run runs the hook until ctx ends. A running attempt ends with ctx, and the next run repeats it.
func (r *runner) run(ctx context.Context) {
	defer r.finish()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for ctx.Err() == nil {
		for _, c := range r.changes.Take() {
			r.look(c.Session)
		}
		if r.readNext(ctx) {
			continue
		}
		now := time.Now()
		r.denyOverdue(ctx, now)
		r.startAttempt(ctx, now)
		timer.Reset(r.wait(now))
		select {
		case <-ctx.Done():
		case <-r.changes.Wake:
		case <-timer.C:
		case done := <-r.delivery.results:
			r.finishAttempt(done)
		}
	}
}

func (r *runner) finish() {
	r.sessions.Unwatch(r.changes)
	if r.delivery.busy {
		<-r.delivery.results
	}
	r.sender.close()
	if err := r.progress.save(r.queue); err != nil {
		r.log.Error("record positions", "hook", r.hook.Name, "err", err)
	}
}

// wait returns the time until the next deadline.
func (r *runner) wait(now time.Time) time.Duration {
	next := now.Add(time.Hour)
	earliest := func(t time.Time) {
		if t.Before(next) {
			next = t
		}
	}
	if len(r.queue) > 0 && !r.delivery.busy {
		earliest(r.delivery.retryAt)
	}
	if len(r.progress.unread) > 0 {
		earliest(r.progress.retryAt)
	}
	for _, t := range r.deadlines {
		earliest(t)
	}
	return max(0, next.Sub(now))
}

// add queues an occurrence. A full backlog drops the oldest one that is not in delivery.
func (r *runner) add(o occurrence) {
	r.queue = append(r.queue, o)
	if len(r.queue) <= r.hook.Limits.Backlog+1 { // the first is in delivery
		return
	}
	if r.delivery.dropped == 0 {
		r.log.Warn("the oldest notifications are dropped: the backlog is full",
			"hook", r.hook.Name, "backlog", r.hook.Limits.Backlog)
	}
	r.delivery.dropped++
	r.queue = append(r.queue[:1], r.queue[2:]...)
}

// startAttempt sends the first occurrence of the queue, unless it has to wait.
func (r *runner) startAttempt(ctx context.Context, now time.Time) {
	d := &r.delivery
	for !d.busy && len(r.queue) > 0 && now.Sub(r.queue[0].time) > r.hook.Limits.Age {
		r.drop("it is too old")
	}
	if d.busy || len(r.queue) == 0 || now.Before(d.retryAt) {
		return
	}
	d.busy = true
	o, id, body := r.queue[0], d.id, d.body
	go func() { d.results <- r.attempt(ctx, o, id, body) }()
}

// attempt builds a notification, unless one before did, and sends it. The runner does not change.
func (r *runner) attempt(ctx context.Context, o occurrence, id string, body []byte) result {
	if body == nil {
		n, err := r.build(ctx, &o)
		if err != nil {
			return result{err: err}
		}
		id, body = n.ID, append(protocol.MustEncode(n), '\n')
	}
	return result{id, body, r.sender.send(ctx, id, body)}
}

func (r *runner) finishAttempt(done result) {
	d := &r.delivery
	d.busy, d.id, d.body = false, done.id, done.body
	name := r.hook.Name
	if done.err == nil || errors.Is(done.err, errNothing) {
		if d.failures > 0 || d.dropped > 0 {
			r.log.Info("the hook works again", "hook", name, "failures", d.failures, "dropped", d.dropped)
		}
		r.next()
		d.dropped = 0
		return
	}
	d.failures++
	wait := delay(d.failures)
	f := (*failure)(nil)
	if errors.As(done.err, &f) {
		wait = max(wait, f.waiting)
		if !f.absent {
			d.refused++
		}
	}
	switch {
	case f != nil && f.final:
		r.drop(f.reason)
		return
	case d.refused >= r.hook.Limits.Attempts:
		r.drop("refused too often: " + done.err.Error())
		return
	}
	d.retryAt = time.Now().Add(wait)
	level := slog.LevelDebug
	if d.failures == 1 {
		level = slog.LevelWarn
	}
	r.log.Log(context.Background(), level, "hook failed: it is tried again",
		"hook", name, "notification", done.id, "failures", d.failures, "in", wait.Round(time.Second), "err", done.err)
}

// drop discards the first occurrence of the queue.
func (r *runner) drop(reason string) {
	o := &r.queue[0]
	r.log.Warn("notification dropped", "hook", r.hook.Name, "type", o.typ, "session", o.session, "seq", o.seq,
		"reason", reason)
	r.next()
}

// next removes the first occurrence of the queue, which is done with.
func (r *runner) next() {
	o := r.queue[0]
	r.queue = r.queue[1:]
	r.delivery.failures, r.delivery.refused, r.delivery.retryAt = 0, 0, time.Time{}
	r.delivery.id, r.delivery.body = "", nil
	if err := r.progress.done(&o); err != nil {
		r.log.Error("record position", "hook", r.hook.Name, "err", err)
	}
}

// denyOverdue denies requests that are pending for too long.
func (r *runner) denyOverdue(ctx context.Context, now time.Time) {
	for id, at := range r.deadlines {
		if now.Before(at) {
			continue
		}
		delete(r.deadlines, id)
		if err := r.denyIn(ctx, id, now); err != nil && protocol.CodeOf(err) != protocol.CodeNoSession {
			r.log.Warn("deny_after failed: it is tried again", "hook", r.hook.Name, "session", id, "err", err)
			r.expect(id, now.Add(retryInterval))
		}
	}
}

// denyIn denies the overdue requests of a session and expects the others.
func (r *runner) denyIn(ctx context.Context, id string, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	list, err := r.requests.Pending(ctx, id)
	if err != nil {
		return err
	}
	for i := range list {
		a := &list[i]
		if due := a.Asked.Add(r.hook.DenyAfter); now.Before(due) {
			r.expect(id, due)
			continue
		}
		_, digest := approval.Digest(a)
		err := r.requests.Decide(ctx, id, digest, &protocol.ApproveData{
			Request: a.Request, Decision: protocol.Deny, Reason: "not decided within " + r.hook.DenyAfter.String(),
		}, actor(r.hook.Name))
		if err != nil && protocol.CodeOf(err) != protocol.CodeConflict {
			return err
		}
	}
	return nil
}

// expect looks at the pending requests of a session at a time.
func (r *runner) expect(id string, at time.Time) {
	if next, ok := r.deadlines[id]; !ok || at.Before(next) {
		r.deadlines[id] = at
	}
}

func actor(name string) protocol.Actor {
	return protocol.Actor{Name: "hook " + name, Subject: "hook:" + name}
}
