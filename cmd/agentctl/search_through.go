package main

import (
	"fmt"
	"slices"

	"agentctl/protocol"
	"agentctl/server/history"
	"agentctl/wsclient"
)

// lookThrough finds words in one session where the server cannot search, as over a dialect: in all that it tells of it.
func (o *searchOptions) lookThrough(l *link) error {
	if o.All || len(o.Args) < 2 {
		return unsupportedf("the dialect %s cannot search in all sessions", o.app.flags.Dialect).hinting("name one: agentctl search SESSION WORDS…")
	}
	name := o.Args[0]
	query, err := protocol.ParseQuery(queryOf(o.Args[1:]))
	if err != nil {
		return usagef("%w", err)
	}
	told := &protocol.Transcript{}
	r := reader{link: l, app: o.app, session: name}
	err = r.read(protocol.Position{}, func(item wsclient.Item) error {
		if item.Event == nil {
			return nil
		}
		if _, err := told.Apply(item.Event); err != nil {
			return fmt.Errorf("search: %w", err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if !slices.Contains(l.Hello().Commands, protocol.DoHistory) {
		o.app.note("the dialect %s tells nothing of finished turns: only what is under way was looked through", o.app.flags.Dialect)
	}
	found := 0
	for _, turn := range slices.Backward(told.Turns) {
		for _, h := range history.SearchTurn(name, query, turn) {
			if found++; o.Limit > 0 && found > o.Limit {
				return nil
			}
			if err := o.tell(&h, nil); err != nil {
				return err
			}
		}
	}
	if found == 0 {
		return &fault{exit: exitError}
	}
	return nil
}
