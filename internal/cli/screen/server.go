package screen

import (
	"context"
	"iter"

	"agentctl/internal/cli/connection"
	"agentctl/internal/exit"
	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/wsclient"
)

// A Server is a server with all its sessions for the TUI's dashboard. Its methods may be
// called from any goroutine.
type Server struct {
	Client *wsclient.Client
	Local  bool // client and server have the same file system

	Order       func(agents []string) []string       // of the agents; nil: as the server names them
	Agent       func() (string, error)               // of new sessions that name none; nil: the server decides
	Environment func(agent string) map[string]string // of new sessions; nil: none
}

var (
	_ remote.Server  = Server{}
	_ remote.Retrier = Server{}
)

// Retry connects immediately.
func (s Server) Retry() { s.Client.Retry() }

// Watch yields the summary of every session, then each change. If the server refuses the connection
// and it is opened again, Watch starts over, and yields a deletion for each session that was
// removed.
func (s Server) Watch(ctx context.Context) iter.Seq2[protocol.Summary, error] {
	return func(yield func(protocol.Summary, error) bool) {
		known := map[string]bool{}
		for {
			var refused bool
			for summary, err := range s.Client.Watch(ctx) {
				if refused = isRefused(err); refused {
					break
				}
				known[summary.Session] = !summary.Deleted
				if !yield(summary, err) {
					return
				}
			}
			if !refused || !waitOpen(ctx, s.Client) {
				return
			}
			deleted, err := s.deleted(ctx, known)
			if err != nil {
				yield(protocol.Summary{}, err)
				return
			}
			for _, id := range deleted {
				delete(known, id)
				if !yield(protocol.Summary{Session: id, Deleted: true}, nil) {
					return
				}
			}
		}
	}
}

// deleted returns the known sessions that do not exist any more.
func (s Server) deleted(ctx context.Context, known map[string]bool) ([]string, error) {
	list, err := wsclient.Call[protocol.ListResult](ctx, s.Client, protocol.DoList, "", protocol.ListData{Closed: true})
	if err != nil {
		return nil, err
	}
	exists := map[string]bool{}
	for i := range list.Sessions {
		exists[list.Sessions[i].Session] = true
	}
	var ids []string
	for id, present := range known {
		if present && !exists[id] {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// Conns yields the state of the connection and each change.
func (s Server) Conns(ctx context.Context) iter.Seq[remote.Conn] {
	return func(yield func(remote.Conn) bool) {
		for state := range s.Client.States(ctx) {
			rethrow(state.Err)
			if !yield(*linkState(s.Client, state)) {
				return
			}
		}
	}
}

// Session returns one session.
func (s Server) Session(id string) remote.Session {
	return &Session{Client: s.Client, Session: id}
}

// Agents returns the agents that the server named in its hello, in the order of the user.
func (s Server) Agents() []string {
	names := s.Client.Hello().Agents
	if s.Order == nil {
		return names
	}
	return s.Order(names)
}

// Sandbox returns the sandbox that the server named in its hello.
func (s Server) Sandbox() *protocol.Sandbox { return s.Client.Hello().Sandbox }

// Search searches in all sessions.
func (s Server) Search(ctx context.Context, d protocol.SearchData) (protocol.SearchResult, error) {
	return wsclient.Call[protocol.SearchResult](ctx, s.Client, protocol.DoSearch, "", d)
}

// Create creates a session.
func (s Server) Create(ctx context.Context, d protocol.CreateData) (protocol.CreateResult, error) {
	if s.Local {
		if err := connection.ResolvePaths(&d); err != nil {
			return protocol.CreateResult{}, err
		}
	}
	if s.Agent != nil && d.Agent == "" {
		name, err := s.Agent()
		if err != nil {
			return protocol.CreateResult{}, &remote.AdvisedError{Err: err, Advice: exit.From(err).Hint}
		}
		d.Agent = name
	}
	if s.Environment != nil && d.Env == nil {
		d.Env = s.Environment(d.Agent)
	}
	r, err := wsclient.Call[protocol.CreateResult](ctx, s.Client, protocol.DoCreate, "", d)
	if err != nil {
		err = &remote.AdvisedError{Err: err, Advice: exit.From(err).At(connection.Peer(s.Client)).Hint}
	}
	return r, err
}
