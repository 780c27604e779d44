package tui

import (
	"context"
	"iter"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/remote"
	"agentctl/tui/sessionview"
	"agentctl/tui/task"
)

// detachAfter is how long a hidden session stays subscribed. Switching between two sessions does
// not subscribe again each time.
const detachAfter = 10 * time.Second

// A stream is one run of a session's updates. A detached session has none.
type stream struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when the updates have ended
}

// streamMsg is a message of a stream. Messages of an earlier stream are dropped: the next one
// continues after the last message that was applied.
type streamMsg struct {
	stream *stream
	msg    tea.Msg
}

// detachMsg makes the program look for hidden sessions to detach.
type detachMsg struct{}

// attach starts the updates of a session, after its former stream and ready. A session that was
// detached continues after its last event.
func (s *openSessions) attach(o *openSession, ready <-chan struct{}) {
	former := s.closing[o.id]
	updates := o.session.Updates
	if o.stream != nil {
		former = o.stream.done
		if at := o.view.Session().Position(); at.Epoch != "" {
			updates = func(ctx context.Context) iter.Seq[remote.Update] {
				return o.session.(remote.Resumer).UpdatesSince(ctx, at)
			}
		}
	}
	ctx, cancel := context.WithCancel(o.tasks.Context())
	st := &stream{cancel: cancel, done: make(chan struct{})}
	o.stream, o.detached, o.hiddenAt = st, false, time.Time{}
	send := func(msg tea.Msg) { s.send(task.Message{To: o, Msg: streamMsg{st, msg}}) }
	s.wg.Go(func() {
		defer close(st.done)
		defer cancel()
		if !task.Wait(ctx, former) || !task.Wait(ctx, ready) {
			return
		}
		err := task.PumpAt(ctx, s.pace.updates(), updates, func(u []remote.Update) { send(remote.Updates(u)) })
		if err != nil {
			s.onPanic(err)
		}
		if ctx.Err() == nil {
			send(sessionview.UpdatesEnded{})
		}
	})
}

// detachHidden detaches the sessions that have been hidden for detachAfter, and immediately those that lag
// behind the server: on a slow link their events delay events of the session on the screen. It
// returns a command that looks again when the next one is due. previewed is the session whose
// transcript the dashboard shows, or "".
func (s *openSessions) detachHidden(previewed string) tea.Cmd {
	var next time.Duration
	now := s.viewConfig.Now()
	for _, o := range s.all {
		if o.detached {
			continue
		}
		if s.isShown(o) || o.id == previewed || !o.detachable() {
			o.hiddenAt = time.Time{}
			continue
		}
		if o.hiddenAt.IsZero() {
			o.hiddenAt = now
		}
		wait := detachAfter - now.Sub(o.hiddenAt)
		if wait <= 0 || o.view.Session().Lag() > 0 {
			o.stream.cancel()
			o.detached = true
			continue
		}
		if next == 0 || wait < next {
			next = wait
		}
	}
	if next == 0 || s.detachPending {
		return nil
	}
	s.detachPending = true
	return s.viewConfig.After(next, detachMsg{})
}

// detachable reports whether the session can be detached without a loss.
func (o *openSession) detachable() bool {
	r, ok := o.session.(remote.Resumer)
	return ok && r.Resumes() && o.view.Detachable()
}

// isShown reports whether a session is on the screen.
func (s *openSessions) isShown(o *openSession) bool { return slices.Contains(s.onScreen(), o) }

// onScreen returns the sessions on the screen.
func (s *openSessions) onScreen() []*openSession {
	if s.shown == nil {
		return nil
	}
	return append([]*openSession{s.shown}, s.beside...)
}
