package main

import (
	"context"
	"iter"

	"agentctl/internal/exit"
	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/wsclient"
)

// A serverAdapter is a server with all its sessions for the TUI's dashboard. Its methods may be
// called from any goroutine.
type serverAdapter struct {
	client *wsclient.Client
	local  bool // client and server have the same file system

	order       func(agents []string) []string       // of the agents; nil: as the server names them
	agent       func() (string, error)               // of new sessions that name none; nil: the server decides
	environment func(agent string) map[string]string // of new sessions; nil: none
}

var (
	_ remote.Server  = serverAdapter{}
	_ remote.Retrier = serverAdapter{}
)

// Retry connects at once.
func (s serverAdapter) Retry() { s.client.Retry() }

// Watch yields the summary of every session, then each change. If the server refuses the connection
// and it is opened again, Watch starts over, and yields a deletion for each session that is gone.
func (s serverAdapter) Watch(ctx context.Context) iter.Seq2[protocol.Summary, error] {
	return func(yield func(protocol.Summary, error) bool) {
		known := map[string]bool{}
		for {
			var refused bool
			for summary, err := range s.client.Watch(ctx) {
				if refused = isRefused(err); refused {
					break
				}
				known[summary.Session] = !summary.Deleted
				if !yield(summary, err) {
					return
				}
			}
			if !refused || !waitOpen(ctx, s.client) {
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
func (s serverAdapter) deleted(ctx context.Context, known map[string]bool) ([]string, error) {
	list, err := wsclient.Call[protocol.ListResult](ctx, s.client, protocol.DoList, "", protocol.ListData{Closed: true})
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

// Links yields the state of the connection and each change.
func (s serverAdapter) Conns(ctx context.Context) iter.Seq[remote.Conn] {
	return func(yield func(remote.Conn) bool) {
		for state := range s.client.States(ctx) {
			rethrow(state.Err)
			if !yield(*linkState(s.client, state)) {
				return
			}
		}
	}
}

// Session returns one session.
func (s serverAdapter) Session(id string) remote.Session {
	return &sessionAdapter{client: s.client, session: id}
}

// Agents returns the agents that the server named in its hello, in the order of the user.
func (s serverAdapter) Agents() []string {
	names := s.client.Hello().Agents
	if s.order == nil {
		return names
	}
	return s.order(names)
}

// Search searches in all sessions.
func (s serverAdapter) Search(ctx context.Context, d protocol.SearchData) (protocol.SearchResult, error) {
	return wsclient.Call[protocol.SearchResult](ctx, s.client, protocol.DoSearch, "", d)
}

// Create creates a session.
func (s serverAdapter) Create(ctx context.Context, d protocol.CreateData) (protocol.CreateResult, error) {
	if s.local {
		if err := resolvePaths(&d); err != nil {
			return protocol.CreateResult{}, err
		}
	}
	if s.agent != nil && d.Agent == "" {
		name, err := s.agent()
		if err != nil {
			return protocol.CreateResult{}, &remote.AdvisedError{Err: err, Advice: exit.From(err).Hint}
		}
		d.Agent = name
	}
	if s.environment != nil && d.Env == nil {
		d.Env = s.environment(d.Agent)
	}
	r, err := wsclient.Call[protocol.CreateResult](ctx, s.client, protocol.DoCreate, "", d)
	if err != nil {
		err = &remote.AdvisedError{Err: err, Advice: exit.From(err).At(peerOf(s.client)).Hint}
	}
	return r, err
}
