package tuitest

import (
	"context"
	"iter"
	"slices"
	"sync"
	"time"

	"agentctl/protocol"
	"agentctl/tui/remote"
)

// Server is a server of recorded sessions. It counts the subscribers of each session.
type Server struct {
	Updates chan SummaryUpdate // summaries for Watch
	Links   chan remote.Conn   // states of the connection

	Mu         sync.Mutex
	Sessions   map[string]*FakeSession
	Reply      func(session string, a Command) (any, error)
	Retries    int
	CloseDelay time.Duration // how long Updates continues after its context has ended
	Journal    func(session string) *Journal
	OnSearch   func(protocol.SearchData) (protocol.SearchResult, error)
	OnCreate   func(protocol.CreateData) (protocol.CreateResult, error)

	DefaultSandbox *protocol.Sandbox // nil: users choose none

	subscribers    map[string]int      // running calls of Updates by session
	commands       []string            // session and verb of each command
	subscriptions  []string            // session of each call of Updates
	resumed        []protocol.Position // of each call of UpdatesSince
	maxSubscribers int                 // maximum number of concurrent subscribers of one session
}

// SummaryUpdate is a summary, or the error that ends the stream of summaries.
type SummaryUpdate struct {
	Summary protocol.Summary
	Err     error
}

// NewServer returns a server whose sessions hold one question and its answer.
func NewServer() *Server {
	return &Server{
		Updates:     make(chan SummaryUpdate, 64),
		Links:       make(chan remote.Conn, 4),
		Sessions:    map[string]*FakeSession{},
		subscribers: map[string]int{},
	}
}

// Watch yields the summaries of Updates until ctx ends.
func (s *Server) Watch(ctx context.Context) iter.Seq2[protocol.Summary, error] {
	return func(yield func(protocol.Summary, error) bool) {
		for {
			select {
			case u := <-s.Updates:
				if !yield(u.Summary, u.Err) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

// Conns yields the states of Links until ctx ends.
func (s *Server) Conns(ctx context.Context) iter.Seq[remote.Conn] {
	return func(yield func(remote.Conn) bool) {
		for {
			select {
			case l := <-s.Links:
				if !yield(l) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

// Retry counts its calls.
func (s *Server) Retry() {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.Retries++
}

// Agents returns the names of two agents.
func (s *Server) Agents() []string { return []string{"claude", "gemini"} }

// Sandbox returns DefaultSandbox.
func (s *Server) Sandbox() *protocol.Sandbox { return s.DefaultSandbox }

// Search calls OnSearch. Without it, the server cannot search.
func (s *Server) Search(_ context.Context, d protocol.SearchData) (protocol.SearchResult, error) {
	if s.OnSearch == nil {
		return protocol.SearchResult{}, ErrCannotSearch
	}
	return s.OnSearch(d)
}

// Create calls OnCreate. Without it, it creates the session "new".
func (s *Server) Create(_ context.Context, d protocol.CreateData) (protocol.CreateResult, error) {
	if s.OnCreate == nil {
		return protocol.CreateResult{Session: "new"}, nil
	}
	return s.OnCreate(d)
}

// Session returns a session with the events of Journal, or with one question and its answer.
func (s *Server) Session(id string) remote.Session {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	r := NewFakeSession()
	s.Sessions[id] = r
	if s.Reply != nil {
		r.Reply = func(a Command) (any, error) {
			s.Mu.Lock()
			s.commands = append(s.commands, id+" "+string(a.Verb))
			s.Mu.Unlock()
			return s.Reply(id, a)
		}
	}
	j := NewJournal()
	if s.Journal != nil {
		j = s.Journal(id)
	} else {
		j.UserMessage(Ada, "m1", "question for "+id)
		j.Text("t", "answer of "+id)
		j.CaughtUp()
	}
	for _, u := range j.Take() {
		r.Feed <- u
	}
	return &serverSession{r, s, id}
}

// Requests returns the session of each subscription, and the session and verb of each command.
func (s *Server) Requests() (subscriptions, commands []string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return slices.Clone(s.subscriptions), slices.Clone(s.commands)
}

// Resumptions returns the positions after which updates were continued.
func (s *Server) Resumptions() []protocol.Position {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return slices.Clone(s.resumed)
}

// PeakSubscribers returns the maximum number of concurrent subscribers of one session.
func (s *Server) PeakSubscribers() int {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.maxSubscribers
}

// Subscribed returns the sessions that have a subscriber, sorted by ID.
func (s *Server) Subscribed() []string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	var out []string
	for id, n := range s.subscribers {
		if n > 0 {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

// addSubscribers adds n to the number of subscribers of a session.
func (s *Server) addSubscribers(id string, n int) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.subscribers[id] += n
	s.maxSubscribers = max(s.maxSubscribers, s.subscribers[id])
	if n > 0 {
		s.subscriptions = append(s.subscriptions, id)
	}
}

// serverSession is a recorded session that counts its subscribers.
type serverSession struct {
	*FakeSession
	server *Server
	id     string
}

func (s *serverSession) Updates(ctx context.Context) iter.Seq[remote.Update] {
	return func(yield func(remote.Update) bool) {
		s.server.addSubscribers(s.id, 1)
		defer s.server.addSubscribers(s.id, -1)
		s.FakeSession.Updates(ctx)(yield)
		if s.server.CloseDelay > 0 {
			<-time.After(s.server.CloseDelay) // in virtual time
		}
	}
}

// Resumes implements remote.Resumer.
func (s *serverSession) Resumes() bool { return true }

// UpdatesSince implements remote.Resumer: the next updates of the feed continue the earlier ones.
func (s *serverSession) UpdatesSince(ctx context.Context, since protocol.Position) iter.Seq[remote.Update] {
	return func(yield func(remote.Update) bool) {
		s.server.Mu.Lock()
		s.server.resumed = append(s.server.resumed, since)
		s.server.Mu.Unlock()
		attached := &protocol.SubscribeResult{Session: s.id, Mode: protocol.ModeResume, After: since, Position: since}
		if yield(remote.Update{Attached: attached}) {
			s.Updates(ctx)(yield)
		}
	}
}

// SetPending makes sessions answer commands. Their snapshots hold the pending approvals.
func (s *Server) SetPending(pending ...protocol.Approval) {
	s.Reply = func(id string, a Command) (any, error) {
		switch a.Verb {
		case protocol.DoSnapshot:
			return protocol.SnapshotResult{
				Snapshot: protocol.Snapshot{Epoch: "e", State: &protocol.State{Session: id, Approvals: pending}},
			}, nil
		case protocol.DoHistory:
			var page protocol.HistoryResult
			for _, u := range Conversation().Take() {
				if u.Event != nil && u.Event.Turn == "turn-m1" {
					page.Events = append(page.Events, u.Event.AppendJSON(nil))
				}
			}
			return page, nil
		}
		return nil, nil
	}
	s.Journal = func(string) *Journal {
		j := &Journal{Seq: 100, At: Start}
		j.Pending = remote.Updates{
			{
				Attached: &protocol.SubscribeResult{
					Mode:  protocol.ModeSnapshot,
					After: protocol.Position{Seq: 100},
					Snapshot: &protocol.Snapshot{
						State: &protocol.State{Seq: 100, Last: &protocol.LastTurn{Turn: "turn-m1"}},
					},
				},
			},
		}
		j.UserMessage(Bob, "m9", "Push the tags.")
		j.Text("t", "They are right.")
		j.QueueMessage(Ada, "m10", "And then?")
		j.RequestApproval(CommandApproval())
		j.CaughtUp()
		return j
	}
}
