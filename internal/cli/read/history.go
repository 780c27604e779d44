package read

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/internal/export"
	"agentctl/protocol"
)

type historyOptions struct {
	verb.Options

	Session string
	Limit   int
	Before  uint64
}

var historyVerb = verb.Verb{
	Use:   "history SESSION",
	Short: "Print finished turns",
	Long: `Print the newest finished turns, and the notices between them, in order: as text, or with -o
json as events with joined deltas. "agentctl events" and "agentctl export" print the whole log.`,
	Example: "  agentctl history fix --limit 1\n  agentctl history fix --limit 0 | less",
	Group:   verb.GroupRead, Reads: true, Sends: protocol.DoHistory,
	Trial:    "fix",
	Complete: completion.Sessions,

	Do: &verb.Steps[historyOptions]{
		Flags: func(o *historyOptions, cmd *cobra.Command) {
			cmd.Flags().IntVarP(&o.Limit, "limit", "n", 20, "print at most `N` turns; 0: all")
			cmd.Flags().Uint64Var(&o.Before, "before", 0, "print only turns before `SEQ`")
		},
		Read: func(o *historyOptions, args []string) error {
			o.Session = args[0]
			if o.Limit < 0 {
				return exit.Usagef("invalid --limit %d: want 0 or more", o.Limit)
			}
			return nil
		},
		Run: runHistory,
	},
}

// historyPageSize is the number of turns of one request.
const historyPageSize = 100

func runHistory(ctx context.Context, o *historyOptions) error {
	c, err := connection.Open(ctx, o.CLI)
	if err != nil {
		return err
	}
	defer c.Close()
	pages, err := o.pages(c)
	if err != nil {
		return err
	}
	if o.CLI.Out.JSON {
		return o.printLines(pages)
	}
	t := &protocol.Transcript{}
	notices := map[int][]protocol.Event{} // outside of turns, by the number of turns before them
	for _, p := range slices.Backward(pages) {
		for e, err := range p.Decoded() {
			if err == nil {
				_, err = t.Apply(e)
			}
			if err != nil {
				return fmt.Errorf("history of %s: %w", o.Session, err)
			}
			if protocol.OutsideOfTurns(e.Type, e.Turn) {
				notices[len(t.Turns)] = append(notices[len(t.Turns)], *e)
			}
		}
	}
	return o.CLI.Out.Print(nil, func(w io.Writer) {
		m := export.Markdown{W: w, Session: o.Session}
		m.Notices(notices[0], true)
		for i, turn := range t.Turns {
			m.Turn(turn, i == 0 && len(notices[0]) == 0)
			m.Notices(notices[i+1], false)
		}
	})
}

func (o *historyOptions) printLines(pages []*protocol.HistoryResult) error {
	for _, p := range slices.Backward(pages) {
		for _, line := range p.Events {
			if err := o.CLI.Out.PrintLine(line); err != nil {
				return err
			}
		}
	}
	return nil
}

// pages requests pages of history until --limit is reached, the newest page first.
func (o *historyOptions) pages(c *connection.Conn) ([]*protocol.HistoryResult, error) {
	var pages []*protocol.HistoryResult
	left, before := o.Limit, o.Before
	for {
		limit := historyPageSize
		if o.Limit > 0 {
			limit = min(historyPageSize, left)
		}
		res, err := connection.Call[protocol.HistoryResult](c, protocol.DoHistory, o.Session,
			protocol.HistoryData{Before: before, Limit: limit})
		if err != nil {
			return nil, err
		}
		pages = append(pages, &res)
		left -= countTurns(res.Events)
		older := res.OlderThan()
		if older == 0 || older == before || o.Limit > 0 && left <= 0 {
			return pages, nil
		}
		before = older
	}
}

// countTurns returns the number of turns that start in events.
func countTurns(events []json.RawMessage) int {
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
