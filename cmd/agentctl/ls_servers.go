package main

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"agentctl/internal/config"
	"agentctl/internal/exit"
	"agentctl/protocol"
	"agentctl/wsclient"
)

// listTimeout bounds the wait for each server of a list of several.
const listTimeout = 5 * time.Second

// A listRequest is what a list of sessions has.
type listRequest struct {
	closed bool // closed sessions too
	detail bool // of each session
}

// do returns the sessions of a connected server.
func (r listRequest) do(ctx context.Context, client *wsclient.Client) ([]listedSession, error) {
	list, err := wsclient.Call[protocol.ListResult](
		ctx, client, protocol.DoList, "", protocol.ListData{Closed: r.closed},
	)
	rows := listed(list.Sessions)
	for i := 0; r.detail && err == nil && i < len(rows); i++ {
		err = rows[i].readDetail(ctx, serverAdapter{client: client})
	}
	return rows, err
}

// listHome returns the sessions of the server of verbs without --on.
func (a *app) listHome(ctx context.Context, r listRequest) ([]listedSession, error) {
	c, err := a.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	rows, err := r.do(c.ctx, c.Client)
	return rows, c.cause(err)
}

// listAllServers returns the sessions of the server of verbs without --on, and of all named
// servers, by activity. It reports servers that do not answer, and fails if none does.
func (a *app) listAllServers(ctx context.Context, r listRequest) ([]listedSession, error) {
	if a.userConfigErr != nil {
		return nil, a.userConfigErr
	}
	type answer struct {
		sessions []listedSession
		err      error
	}
	home := a.homeName()
	names := []string{home}
	for _, name := range slices.Sorted(maps.Keys(a.userConfig.Servers)) {
		if name != home && a.userConfig.Servers[name].Dialect == "" { // a dialect has no list
			names = append(names, name)
		}
	}
	answers := make([]answer, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, listTimeout)
			defer cancel()
			rows, err := a.listServer(ctx, name, r)
			for k := range rows {
				rows[k].Server = name
			}
			answers[i] = answer{rows, err}
		})
	}
	wg.Wait()
	var rows []listedSession
	var failed []error
	for i, r := range answers {
		if r.err == nil {
			rows = append(rows, r.sessions...)
			continue
		}
		failed = append(failed, r.err)
		if names[i] != config.LocalName { // one that does not run has no session to miss
			a.notef("%s: %s", names[i], r.err)
		}
	}
	if len(failed) == len(names) {
		return nil, exit.Unreachablef("no server answers").WithHint("%s", exit.HintFor(exit.CodeUnreachable))
	}
	slices.SortStableFunc(rows, func(a, b listedSession) int { return b.Updated.Compare(a.Updated) })
	return rows, nil
}

// listServer returns the sessions of one server. It asks nothing of the user, and starts no server.
func (a *app) listServer(ctx context.Context, name string, r listRequest) ([]listedSession, error) {
	if name == a.homeName() {
		return a.listHome(ctx, r)
	}
	s := a.userConfig.Servers[name]
	o := a.namedOptions(s)
	o.NoRetryFirst, o.OneShot, o.MaxAttempts = true, true, 1
	client := wsclient.New(s.URL, o)
	defer client.Close() //nolint:errcheck // never fails
	if err := client.Connect(ctx); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = exit.Unreachablef("no answer within %s", listTimeout)
		}
		return nil, err
	}
	return r.do(ctx, client)
}
