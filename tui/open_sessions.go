package tui

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/changes"
	"agentctl/tui/dashboard"
	"agentctl/tui/drafts"
	"agentctl/tui/remote"
	"agentctl/tui/request"
	"agentctl/tui/sessionview"
	"agentctl/tui/sessionview/input"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/task"
	"agentctl/tui/transcript"
	"agentctl/tui/transcriptview"
	"agentctl/tui/ui"
)

// defaultKeep is the default maximum number of open sessions, including the one on the screen.
const defaultKeep = 3

// openSessions holds the sessions that the program is subscribed to. Only the event loop may use
// it.
type openSessions struct {
	// Set before the program starts.
	ctx        context.Context                  // context of all subscriptions
	viewConfig sessionview.Config               // template; Session and Tasks are set for each view
	session    func(id string) remote.Session   // returns the session with an ID
	host       func(id string) sessionview.Host // nil: the one of viewConfig
	keep       int                              // maximum number of open sessions
	send       func(tea.Msg)                    // sends a message to the event loop
	onPanic    func(error)                      // ends the program; safe for concurrent use
	wg         sync.WaitGroup                   // goroutines of subscriptions
	pace       *pace                            // of streaming text; nil: none

	all     []*openSession // most recently shown first
	shown   *openSession   // session on the screen that has the focus; nil: none
	beside  []*openSession // other sessions on the screen
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

	size tea.WindowSizeMsg // of the view
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

// Transcript returns the transcript view and the state of an open session that is subscribed, or
// nil. It implements dashboard.OpenSessions.
func (s *openSessions) Transcript(id string) (*transcriptview.View, *protocol.State) {
	if o := s.find(id); o != nil && !o.detached {
		return o.view.Transcript(), o.view.Session().State
	}
	return nil, nil
}

// KeepText adds a text to the unsent message of a session. It implements dashboard.OpenSessions.
func (s *openSessions) KeepText(id, text string) {
	if o := s.find(id); o != nil {
		o.view.KeepText(text)
		return
	}
	d := s.drafts.Load(id)
	d.Add(text)
	s.drafts.Save(id, d)
}

// Closing returns a channel that is closed when the previous subscription of a session has ended,
// or nil if there was none. It implements dashboard.OpenSessions.
func (s *openSessions) Closing(id string) <-chan struct{} {
	if o := s.find(id); o != nil {
		return o.stream.done
	}
	return s.closing[id]
}

// show puts sessions on the screen in place of those that are there. The first has the focus. It
// opens those that are not open, and subscribes those that are not subscribed once
// ready is closed; a nil ready subscribes immediately. If more than keep sessions are open, show closes
// the least recently shown ones that are hidden. It spares those in spare, unless keep is 1.
func (s *openSessions) show(ids []string, ready <-chan struct{}, spare []string) {
	before := s.onScreen()
	s.shown, s.beside = nil, nil
	for i, id := range slices.Backward(ids) {
		o := s.find(id)
		switch {
		case o == nil:
			o = s.open(id, ready)
		case o.detached:
			s.attach(o, ready)
		}
		s.all = slices.DeleteFunc(s.all, func(other *openSession) bool { return other == o })
		s.all = slices.Insert(s.all, 0, o)
		if i == 0 {
			s.shown = o
		} else {
			s.beside = append(s.beside, o)
		}
	}
	for _, o := range before {
		if !s.isShown(o) {
			s.hideSession(o)
		}
	}
	s.closeOldest(spare)
	for _, o := range s.onScreen() {
		if !slices.Contains(before, o) {
			o.view.SetHidden(false)
		}
	}
}

// closeOldest closes the least recently shown sessions beyond keep. See show.
func (s *openSessions) closeOldest(spare []string) {
	for i := len(s.all) - 1; i >= 0 && len(s.all) > s.keep; i-- {
		o := s.all[i]
		if s.isShown(o) || s.keep > 1 && slices.Contains(spare, o.id) {
			continue
		}
		o.view.SaveDraft()
		s.closeSession(o)
	}
}

// hide removes all sessions from the screen. They stay open unless they were deleted: it returns
// the deleted ones.
func (s *openSessions) hide() (deleted []string) {
	before := s.onScreen()
	s.shown, s.beside = nil, nil
	for _, o := range before {
		s.hideSession(o)
		if o.deleted {
			deleted = append(deleted, o.id)
		}
	}
	return deleted
}

// hideSession handles that a session is not on the screen any more.
func (s *openSessions) hideSession(o *openSession) {
	o.view.SetHidden(true)
	if o.deleted {
		s.closeSession(o)
		s.drafts.Save(o.id, drafts.Draft{})
	}
}

// open opens a session. It starts receiving updates after the previous subscription of the session
// has ended and ready is closed.
func (s *openSessions) open(id string, ready <-chan struct{}) *openSession {
	session := s.session(id)
	o := &openSession{id: id, session: session, tasks: task.NewRunner(s.ctx)}
	o.tasks.Address, o.tasks.OnPanic = o, s.onPanic
	config := s.viewConfig
	config.Session, config.Tasks = session, o.tasks
	config.Beside = func() bool { return len(s.beside) > 0 }
	if s.host != nil {
		config.Host = s.host(id)
	}
	after := config.After
	config.After = func(d time.Duration, msg tea.Msg) tea.Cmd { return after(d, o.tasks.Wrap(msg)) }
	config.Input.SaveDraft = func(d drafts.Draft) { s.drafts.Save(id, d) }
	o.view = sessionview.New(config)
	s.wg.Go(func() { s.send(task.Message{To: o, Msg: input.DraftMsg(s.drafts.Load(id))}) })
	s.attach(o, ready)
	return o
}

// compare returns the comparison of the changes of two open sessions, and a command that requests them.
func (s *openSessions) compare(c *request.Sender, left, right *openSession) (ui.Overlay, tea.Cmd) {
	var sides [2]changes.Side
	for i, o := range []*openSession{left, right} {
		state := o.view.Session().State
		sides[i] = changes.Side{
			Name:      cmp.Or(transcript.CleanLine(remote.SessionName(state)), ui.ShortID(o.id)),
			Directory: state.CWD, Session: o.session, Transcript: o.view.Transcript(),
		}
	}
	return changes.NewComparison(s.viewConfig.Styles, c, sides[0], sides[1])
}

// forkIntent opens a session that was forked from another one.
type forkIntent struct {
	from *openSession
	id   string
}

// sameServer returns the id of a session of the server that another session is of.
func sameServer(of *openSession, session string) string {
	return strings.TrimSuffix(of.id, of.view.Session().State.Session) + session // with the part of IDs of other servers
}

// update passes a message to a session. It drops the message if the session has been closed, or
// the message is of an earlier stream of its updates.
func (s *openSessions) update(o *openSession, msg tea.Msg) (tea.Cmd, ui.Intent) {
	if m, ok := msg.(streamMsg); ok {
		if o.detached || m.stream != o.stream {
			return nil, nil
		}
		msg = m.msg
	}
	if !slices.Contains(s.all, o) {
		return nil, nil
	}
	cmd, intent := o.view.Update(msg)
	switch i := intent.(type) {
	case input.ForkedIntent:
		id := sameServer(o, i.Session)
		s.drafts.Save(id, drafts.Draft{Text: i.Text}) // for its composer
		return cmd, forkIntent{o, id}
	case panel.OpenIntent:
		return cmd, dashboard.OpenIntent{Session: sameServer(o, i.Session)}
	}
	return cmd, intent
}

// after returns a command that sends a message after a delay.
func (s *openSessions) after(d time.Duration, msg tea.Msg) tea.Cmd { return s.viewConfig.After(d, msg) }

// anyLoaded reports whether a session has caught up, or cannot be reached.
func (s *openSessions) anyLoaded() bool {
	return slices.ContainsFunc(s.all, func(o *openSession) bool {
		return o.view.Session().CaughtUp || o.view.Session().Conn.State == remote.Offline
	})
}

// anyUnsubscribed reports whether one of the sessions is not open, or not subscribed.
func (s *openSessions) anyUnsubscribed(sessions []string) bool {
	return slices.ContainsFunc(sessions, func(id string) bool {
		o := s.find(id)
		return o == nil || o.detached
	})
}

// handleDeleted closes a session that the server deleted. If it is on the screen, it stays readable
// until it is hidden.
func (s *openSessions) handleDeleted(id string) {
	if o := s.find(id); o != nil {
		if s.isShown(o) {
			o.deleted = true
			return // its draft is removed when it is hidden
		}
		s.closeSession(o)
	}
	s.drafts.Save(id, drafts.Draft{})
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
