package main

import (
	"context"
	"iter"

	"agentctl/protocol"
	"agentctl/tui"
	"agentctl/wsclient"
)

// A fleet is the sessions of a server as the dashboard shows them.
type fleet struct{ client *wsclient.Client }

var _ tui.Fleet = fleet{}

// Watch yields the summary of every session, then of each that changes.
func (f fleet) Watch(ctx context.Context) iter.Seq2[protocol.Summary, error] {
	return f.client.Watch(ctx)
}

// Session is one of them.
func (f fleet) Session(id string) tui.Session { return &view{client: f.client, session: id} }
