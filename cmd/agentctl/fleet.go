package main

import (
	"context"
	"iter"

	"agentctl/tui/remote"

	"agentctl/protocol"
	"agentctl/tui"
	"agentctl/tui/protolog"
	"agentctl/wsclient"
)

// A fleet is the sessions of a server as the dashboard shows them.
type fleet struct {
	client *wsclient.Client
	local  bool          // the server is this machine's own: paths are from here
	wire   *protolog.Log // of the connection
}

var (
	_ remote.Server  = fleet{}
	_ remote.Retrier = fleet{}
	_ tui.LogSource      = fleet{}
)

// Wire is the log of the connection.
func (f fleet) Wire() *protolog.Log { return f.wire }

// Retry tries to connect now.
func (f fleet) Retry() { f.client.Retry() }

// Watch yields the summary of every session, then of each that changes; after a connection that the server refused and somebody
// asked for again, of every session anew.
func (f fleet) Watch(ctx context.Context) iter.Seq2[protocol.Summary, error] {
	return func(yield func(protocol.Summary, error) bool) {
		known := map[string]bool{}
		for {
			var refused bool
			for s, err := range f.client.Watch(ctx) {
				if refused = refusedNow(err); refused {
					break
				}
				known[s.Session] = !s.Deleted
				if !yield(s, err) {
					return
				}
			}
			if !refused || !opened(ctx, f.client) {
				return
			}
			gone, err := f.gone(ctx, known)
			if err != nil {
				yield(protocol.Summary{}, err)
				return
			}
			for _, id := range gone {
				delete(known, id)
				if !yield(protocol.Summary{Session: id, Deleted: true}, nil) {
					return
				}
			}
		}
	}
}

// gone are the sessions that were known and are no more.
func (f fleet) gone(ctx context.Context, known map[string]bool) ([]string, error) {
	all, err := wsclient.Call[protocol.ListResult](ctx, f.client, protocol.DoList, "", protocol.ListData{Closed: true})
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for i := range all.Sessions {
		there[all.Sessions[i].Session] = true
	}
	var out []string
	for id, is := range known {
		if is && !there[id] {
			out = append(out, id)
		}
	}
	return out, nil
}

// Conns yields how the connection is, and each change.
func (f fleet) Conns(ctx context.Context) iter.Seq[remote.Conn] {
	return func(yield func(remote.Conn) bool) {
		for s := range f.client.States(ctx) {
			sound(s.Err)
			if !yield(*linkOf(f.client, s)) {
				return
			}
		}
	}
}

// Session is one of them.
func (f fleet) Session(id string) remote.Session {
	return &view{client: f.client, session: id, wire: f.wire}
}

// Agents are those that the server told of.
func (f fleet) Agents() []string { return f.client.Hello().Agents }

// Search looks through all of them.
func (f fleet) Search(ctx context.Context, d protocol.SearchData) (protocol.SearchResult, error) {
	return wsclient.Call[protocol.SearchResult](ctx, f.client, protocol.DoSearch, "", d)
}

// Create makes a session.
func (f fleet) Create(ctx context.Context, d protocol.CreateData) (protocol.CreateResult, error) {
	if f.local {
		if err := here(&d); err != nil {
			return protocol.CreateResult{}, err
		}
	}
	return wsclient.Call[protocol.CreateResult](ctx, f.client, protocol.DoCreate, "", d)
}
