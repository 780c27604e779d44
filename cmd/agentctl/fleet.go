package main

import (
	"context"
	"iter"

	"agentctl/protocol"
	"agentctl/tui"
	"agentctl/tui/inspector"
	"agentctl/wsclient"
)

// A fleet is the sessions of a server as the dashboard shows them.
type fleet struct {
	client *wsclient.Client
	wire   *inspector.Log
}

var (
	_ tui.Fleet = fleet{}
	_ tui.Wired = fleet{}
)

// Watch yields the summary of every session, then of each that changes.
func (f fleet) Watch(ctx context.Context) iter.Seq2[protocol.Summary, error] {
	return f.client.Watch(ctx)
}

// Session is one of them.
func (f fleet) Session(id string) tui.Session {
	return &view{client: f.client, session: id, wire: f.wire}
}

// Wire is the log of the connection.
func (f fleet) Wire() *inspector.Log { return f.wire }
