package sessions

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/screen"
	"agentctl/internal/cli/sessiontable"
	"agentctl/internal/cli/verb"
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
func (r listRequest) do(ctx context.Context, client *wsclient.Client) ([]sessiontable.Row, error) {
	list, err := wsclient.Call[protocol.ListResult](
		ctx, client, protocol.DoList, "", protocol.ListData{Closed: r.closed},
	)
	rows := sessiontable.Rows(list.Sessions)
	for i := 0; r.detail && err == nil && i < len(rows); i++ {
		err = rows[i].ReadDetail(ctx, screen.Server{Client: client})
	}
	return rows, err
}

// listHome returns the sessions of the server of verbs without --on.
func listHome(ctx context.Context, cli *verb.Context, r listRequest) ([]sessiontable.Row, error) {
	c, err := connection.Open(ctx, cli)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	rows, err := r.do(c.Context(), c.Client)
	return rows, c.Cause(err)
}

// listAllServers returns the sessions of the server of verbs without --on, and of all named
// servers, by activity. It reports servers that do not answer, and fails if none does.
func listAllServers(ctx context.Context, cli *verb.Context, r listRequest) ([]sessiontable.Row, error) {
	if cli.UserErr != nil {
		return nil, cli.UserErr
	}
	type answer struct {
		sessions []sessiontable.Row
		err      error
	}
	home := cli.HomeName()
	names := []string{home}
	for _, name := range slices.Sorted(maps.Keys(cli.User.Servers)) {
		if name != home && cli.User.Servers[name].Dialect == "" { // a dialect has no list
			names = append(names, name)
		}
	}
	answers := make([]answer, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, listTimeout)
			defer cancel()
			rows, err := listServer(ctx, cli, name, r)
			for k := range rows {
				rows[k].Server = name
			}
			answers[i] = answer{rows, err}
		})
	}
	wg.Wait()
	var rows []sessiontable.Row
	var failed []error
	for i, r := range answers {
		if r.err == nil {
			rows = append(rows, r.sessions...)
			continue
		}
		failed = append(failed, r.err)
		if names[i] != config.LocalName { // one that does not run has no session to miss
			cli.Out.Notef("%s: %s", names[i], r.err)
		}
	}
	if len(failed) == len(names) {
		return nil, exit.Unreachablef("no server answers").WithHint("%s", exit.HintFor(exit.CodeUnreachable))
	}
	slices.SortStableFunc(rows, func(a, b sessiontable.Row) int { return b.Updated.Compare(a.Updated) })
	return rows, nil
}

// listServer returns the sessions of one server. It asks nothing of the user, and starts no server.
func listServer(ctx context.Context, cli *verb.Context, name string, r listRequest) ([]sessiontable.Row, error) {
	if name == cli.HomeName() {
		return listHome(ctx, cli, r)
	}
	s := cli.User.Servers[name]
	o := connection.NamedOptions(cli, s)
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
