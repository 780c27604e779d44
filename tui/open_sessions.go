package tui

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/remote"
	"agentctl/tui/sessionview"
	"agentctl/tui/task"
	"agentctl/tui/transcriptview"
)

// defaultKeep is how many sessions stay subscribed: the one on the screen and those shown before it.
const defaultKeep = 3

// openSessions holds the sessions that the program is subscribed to. The event loop owns it.
type openSessions struct {
	// Static after construction.
	ctx        context.Context    // of all subscriptions
	viewConfig sessionview.Config // of every view, but for its session and tasks
	keep       int
	send       func(tea.Msg)
	onPanic    func(error) // ends the program; any goroutine may call it
	wg         sync.WaitGroup

	all     []*openSession           // the one shown last first
	shown   *openSession             // on the screen, or nil
	drafts  map[string]string        // unsent texts by session, of those that were closed
	closing map[string]chan struct{} // subscriptions that are ending; closed when over
}

// openSession is a subscribed session.
type openSession struct {
	id      string
	view    *sessionview.View
	tasks   *task.Runner
	deleted bool          // the session was deleted
	closed  chan struct{} // closed when it is no longer subscribed
}

// find returns an open session, or nil.
func (s *openSessions) find(id string) *openSession {
	if i := slices.IndexFunc(s.all, func(o *openSession) bool { return o.id == id }); i >= 0 {
		return s.all[i]
	}
	return nil
}

// Transcript implements OpenSessions.
func (s *openSessions) Transcript(id string) *transcriptview.View {
	if o := s.find(id); o != nil {
		return o.view.Transcript()
	}
	return nil
}

// Closing implements OpenSessions.
func (s *openSessions) Closing(id string) <-chan struct{} { return s.closing[id] }

// show puts a session on the screen. One that is not open is subscribed to when before is closed; nil is.
// The session that was not shown for longest is closed for it, but not the one named spare.
func (s *openSessions) show(id string, session func(id string) remote.Session, before <-chan struct{}, spare string) {
	s.hide()
	o := s.find(id)
	if o == nil {
		o = s.subscribe(id, session(id), before)
	}
	s.all = slices.DeleteFunc(s.all, func(other *openSession) bool { return other == o })
	s.all = slices.Insert(s.all, 0, o)
	s.shown = o
	if last := len(s.all) - 1; last >= s.keep {
		if s.all[last].id == spare && s.keep > 1 {
			last--
		}
		s.keepDraft(s.all[last])
		s.closeSession(s.all[last])
	}
	o.view.SetHidden(false)
}

// hide takes the session from the screen. It stays subscribed, unless it is gone.
func (s *openSessions) hide() {
	o := s.shown
	if o == nil {
		return
	}
	s.shown = nil
	o.view.SetHidden(true)
	if o.deleted {
		s.closeSession(o)
	}
}

// subscribe opens a session. Its updates begin when the former subscription is over and before is closed.
func (s *openSessions) subscribe(id string, session remote.Session, before <-chan struct{}) *openSession {
	o := &openSession{id: id, tasks: task.NewRunner(s.ctx), closed: make(chan struct{})}
	o.tasks.Address, o.tasks.OnPanic = o, s.onPanic
	config := s.viewConfig
	config.Session, config.Tasks = session, o.tasks
	after := config.After
	config.After = func(d time.Duration, msg tea.Msg) tea.Cmd { return after(d, o.tasks.Wrap(msg)) }
	o.view = sessionview.New(config)
	o.view.SetDraft(s.drafts[id])
	delete(s.drafts, id)
	former := s.closing[id]
	s.wg.Go(func() {
		if former != nil {
			<-former
		}
		if task.Wait(o.tasks.Context(), before) {
			err := task.Pump(o.tasks.Context(), session.Updates, func(u []remote.Update) {
				s.send(task.Message{To: o, Msg: remote.Updates(u)})
			})
			if err != nil {
				s.onPanic(err)
			}
		}
		close(o.closed)
		s.send(task.Message{To: o, Msg: sessionview.UpdatesEnded{}})
	})
	return o
}

// update gives a message to a session, unless it was closed meanwhile.
func (s *openSessions) update(o *openSession, msg tea.Msg) tea.Cmd {
	if !slices.Contains(s.all, o) {
		return nil
	}
	return o.view.Update(msg)
}

// handleDeleted closes a session that was deleted. One on the screen can still be read until it is hidden.
func (s *openSessions) handleDeleted(id string) {
	delete(s.drafts, id)
	o := s.find(id)
	switch o {
	case nil:
	case s.shown:
		o.deleted = true
	default:
		s.closeSession(o)
	}
}

// keepDraft keeps the unsent texts of a session that is closed.
func (s *openSessions) keepDraft(o *openSession) {
	if texts := o.view.Unsent(); len(texts) > 0 {
		s.drafts[o.id] = strings.Join(texts, "\n\n")
	}
}

// closeSession ends a subscription.
func (s *openSessions) closeSession(o *openSession) {
	s.all = slices.DeleteFunc(s.all, func(other *openSession) bool { return other == o })
	for id, over := range s.closing {
		select {
		case <-over:
			delete(s.closing, id)
		default:
		}
	}
	s.closing[o.id] = o.closed
	s.wg.Go(o.tasks.Close)
}

// closeAll ends all subscriptions and waits for them. Their context must have ended.
func (s *openSessions) closeAll() {
	for _, o := range s.all {
		o.tasks.Close()
	}
	s.wg.Wait()
}

// pendingNavigation walks through the sessions that need the user, and back to where it began.
type pendingNavigation struct {
	origin   string // session on the screen when it began; "" for the dashboard
	selected string // on the dashboard
	visited  map[string]bool
}
