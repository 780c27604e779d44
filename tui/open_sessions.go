package tui

import (
	"context"
	"slices"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/drafts"
	"agentctl/tui/remote"
	"agentctl/tui/sessionview"
	"agentctl/tui/task"
	"agentctl/tui/transcriptview"
)

// defaultKeep is the default maximum number of open sessions, including the one on the screen.
const defaultKeep = 3

// openSessions holds the sessions that the program is subscribed to. Only the event loop may use
// it.
type openSessions struct {
	// Set before the program starts.
	ctx        context.Context                  // context of all subscriptions
	viewConfig sessionview.Config               // template; Session and Tasks are set for each view
	host       func(id string) sessionview.Host // nil: that of viewConfig
	keep       int                              // maximum number of open sessions
	send       func(tea.Msg)                    // sends a message to the event loop
	onPanic    func(error)                      // ends the program; safe for concurrent use
	wg         sync.WaitGroup                   // goroutines of subscriptions

	all     []*openSession // most recently shown first
	shown   *openSession   // session on the screen; nil: none
	drafts  *drafts.Store
	closing map[string]chan struct{} // stream.done by session ID, of closed sessions

	detachPending bool // a detachMsg is pending
}

// openSession is an open session. It is subscribed unless it is detached.
type openSession struct {
	id      string
	session remote.Session
	view    *sessionview.View
	tasks   *task.Runner
	deleted bool // the server deleted the session

	stream   *stream   // the latest one
	detached bool      // stream was cancelled
	hiddenAt time.Time // when the session was found to be hidden; zero: it is not
}

// find returns the open session with the given ID, or nil.
func (s *openSessions) find(id string) *openSession {
	if i := slices.IndexFunc(s.all, func(o *openSession) bool { return o.id == id }); i >= 0 {
		return s.all[i]
	}
	return nil
}

// IsOpen reports whether a session is open. It implements dashboard.OpenSessions.
func (s *openSessions) IsOpen(id string) bool { return s.find(id) != nil }

// Transcript returns the transcript view of an open session that is subscribed, or nil. It
// implements dashboard.OpenSessions.
func (s *openSessions) Transcript(id string) *transcriptview.View {
	if o := s.find(id); o != nil && !o.detached {
		return o.view.Transcript()
	}
	return nil
}

// Closing returns a channel that is closed when the previous subscription of a session has ended,
// or nil if there was none. It implements dashboard.OpenSessions.
func (s *openSessions) Closing(id string) <-chan struct{} {
	if o := s.find(id); o != nil {
		return o.stream.done
	}
	return s.closing[id]
}

// show puts a session on the screen. If it is not open, show opens it with newSession. If it is not
// subscribed, show subscribes once ready is closed; a nil ready subscribes at once. If more than
// keep sessions are open, show closes the least recently shown one. It spares the session with the
// ID except, unless keep is 1.
func (s *openSessions) show(
	id string, newSession func(id string) remote.Session, ready <-chan struct{}, except string,
) {
	s.hide()
	o := s.find(id)
	switch {
	case o == nil:
		o = s.open(id, newSession(id), ready)
	case o.detached:
		s.attach(o, ready)
	}
	s.all = slices.DeleteFunc(s.all, func(other *openSession) bool { return other == o })
	s.all = slices.Insert(s.all, 0, o)
	s.shown = o
	if last := len(s.all) - 1; last >= s.keep {
		if s.all[last].id == except && s.keep > 1 {
			last--
		}
		s.all[last].view.SaveDraft()
		s.closeSession(s.all[last])
	}
	o.view.SetHidden(false)
}

// hide removes the session from the screen. It stays open unless it was deleted.
func (s *openSessions) hide() {
	o := s.shown
	if o == nil {
		return
	}
	s.shown = nil
	o.view.SetHidden(true)
	if o.deleted {
		s.closeSession(o)
		s.drafts.Save(o.id, drafts.Draft{})
	}
}

// open opens a session. It starts receiving updates after the previous subscription of the session
// has ended and ready is closed.
func (s *openSessions) open(id string, session remote.Session, ready <-chan struct{}) *openSession {
	o := &openSession{id: id, session: session, tasks: task.NewRunner(s.ctx)}
	o.tasks.Address, o.tasks.OnPanic = o, s.onPanic
	config := s.viewConfig
	config.Session, config.Tasks = session, o.tasks
	if s.host != nil {
		config.Host = s.host(id)
	}
	after := config.After
	config.After = func(d time.Duration, msg tea.Msg) tea.Cmd { return after(d, o.tasks.Wrap(msg)) }
	config.Composer.SaveDraft = func(d drafts.Draft) { s.drafts.Save(id, d) }
	o.view = sessionview.New(config)
	s.wg.Go(func() { s.send(task.Message{To: o, Msg: sessionview.DraftMsg(s.drafts.Load(id))}) })
	s.attach(o, ready)
	return o
}

// update passes a message to a session. It drops the message if the session has been closed.
func (s *openSessions) update(o *openSession, msg tea.Msg) tea.Cmd {
	if !slices.Contains(s.all, o) {
		return nil
	}
	return o.view.Update(msg)
}

// handleDeleted closes a session that the server deleted. If it is on the screen, it stays readable
// until it is hidden.
func (s *openSessions) handleDeleted(id string) {
	o := s.find(id)
	switch o {
	case nil:
	case s.shown:
		o.deleted = true
		return // its draft is removed when it is hidden
	default:
		s.closeSession(o)
	}
	s.drafts.Save(id, drafts.Draft{})
}

// saveDrafts saves the drafts of all open sessions.
func (s *openSessions) saveDrafts() {
	for _, o := range s.all {
		o.view.SaveDraft()
	}
}

// closeSession closes a session and ends its subscription in the background.
func (s *openSessions) closeSession(o *openSession) {
	s.all = slices.DeleteFunc(s.all, func(other *openSession) bool { return other == o })
	for id, closed := range s.closing {
		select {
		case <-closed:
			delete(s.closing, id)
		default:
		}
	}
	s.closing[o.id] = o.stream.done
	s.wg.Go(o.tasks.Close)
}

// closeAll ends all subscriptions and waits for their goroutines. s.ctx must have ended.
func (s *openSessions) closeAll() {
	for _, o := range s.all {
		o.tasks.Close()
	}
	s.wg.Wait()
}
