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

// listAllServers returns the sessions of the server of verbs without --on, and of all named
// servers, by activity. It reports servers that do not answer, and fails if none does.
func (a *app) listAllServers(ctx context.Context, closed bool) ([]listedSession, error) {
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
			list, err := a.listServer(ctx, name, closed)
			answers[i] = answer{listed(name, list), err}
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
func (a *app) listServer(ctx context.Context, name string, closed bool) ([]protocol.Summary, error) {
	if name == a.homeName() {
		list, err := callOnce[protocol.ListResult](ctx, a, protocol.DoList, "", protocol.ListData{Closed: closed})
		return list.Sessions, err
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
	list, err := wsclient.Call[protocol.ListResult](ctx, client, protocol.DoList, "", protocol.ListData{Closed: closed})
	return list.Sessions, err
}
