package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"agentctl/protocol"
)

type historyOptions struct {
	app *app

	Session string
	Limit   int
	Before  uint64
}

func newHistory(a *app, run func(context.Context, *historyOptions) error) *cobra.Command {
	o := &historyOptions{app: a}
	cmd := &cobra.Command{
		Use:   "history SESSION",
		Short: "Print what was said and done in finished turns",
		Long: `Print the newest finished turns, the oldest of them first: as text, or with -o json as events, a run of deltas joined into one. The
whole log is what "events" and "export" print.`,
		Example:           "  agentctl history fix --limit 1\n  agentctl history fix --limit 0 | less",
		Args:              takes(1, 1),
		ValidArgsFunction: a.sessions,
	}
	cmd.RunE = does(a, o, func(args []string) error {
		o.Session = args[0]
		if o.Limit < 0 {
			return usagef("--limit is 0 or more")
		}
		return nil
	}, run)
	cmd.Flags().IntVarP(&o.Limit, "limit", "n", 20, "at most `N` turns; 0: all")
	cmd.Flags().Uint64Var(&o.Before, "before", 0, "only turns before this `SEQ`")
	return cmd
}

// page is how many turns are asked for at once.
const page = 100

func runHistory(ctx context.Context, o *historyOptions) error {
	l, err := o.app.connect(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	pages, err := o.pages(l)
	if err != nil {
		return err
	}
	t := &protocol.Transcript{}
	for _, p := range slices.Backward(pages) {
		for _, line := range p {
			if o.app.json() {
				if err := o.app.emitLine(line); err != nil {
					return err
				}
				continue
			}
			var e protocol.Event
			if err := json.Unmarshal(line, &e); err != nil {
				return fmt.Errorf("history of %s: %w", o.Session, err)
			}
			if _, err := t.Apply(&e); err != nil {
				return fmt.Errorf("history of %s: %w", o.Session, err)
			}
		}
	}
	if o.app.json() {
		return nil
	}
	return o.app.emit(nil, func(w io.Writer) {
		m := markdown{w: w}
		for i, turn := range t.Turns {
			m.turn(turn, i > 0)
		}
	})
}

// pages asks for as many turns as are wanted, newest page first.
func (o *historyOptions) pages(l *link) ([][]json.RawMessage, error) {
	var pages [][]json.RawMessage
	left, before := o.Limit, o.Before
	for {
		limit := page
		if o.Limit > 0 {
			limit = min(page, left)
		}
		res, err := ask[protocol.HistoryResult](l, protocol.DoHistory, o.Session, protocol.HistoryData{Before: before, Limit: limit})
		if err != nil {
			return nil, err
		}
		pages = append(pages, res.Events)
		left -= turnsIn(res.Events)
		if !res.More || res.First == 0 || res.First == before || o.Limit > 0 && left <= 0 {
			return pages, nil
		}
		before = res.First
	}
}

// turnsIn counts the turns that begin in events.
func turnsIn(events []json.RawMessage) int {
	n := 0
	for _, line := range events {
		var e struct {
			Type protocol.Type `json:"type"`
		}
		if json.Unmarshal(line, &e) == nil && e.Type == protocol.MessageUser {
			n++
		}
	}
	return n
}
