package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"agentctl/internal/exit"
	"agentctl/protocol"
	"agentctl/tui/sessionlist"
)

// topInterval is the time between two redraws.
const topInterval = 2 * time.Second

type topOptions struct {
	app *app

	Filter []string
}

func newTop(a *app, run func(context.Context, *topOptions) error) *cobra.Command {
	o := &topOptions{app: a}
	cmd := &cobra.Command{
		Use:   "top",
		Short: "Show what the sessions do, live",
		Long: `Show a table of the sessions, those that need a person first: status, age of the turn, tokens
of all turns, and a second over the last half minute, cost, queued messages, attached clients and
what the slowest of them has not received yet. q leaves. Without a terminal, or with -o json, the
table is printed once, without tokens a second. On a narrow terminal the least important columns are
left out. --filter is as for ls.`,
		Example: "  agentctl top\n  agentctl top --filter status=running -o json",
		Args:    rangeArgs(0, 0),
		RunE: runE(a, o, func([]string) error {
			_, err := parseSessionFilters(o.Filter)
			return err
		}, run),
	}
	cmd.Flags().StringArrayVar(&o.Filter, "filter", nil, "only sessions that meet `CONDITIONS`; repeatable")
	return cmd
}

// topRow is a session in the table.
type topRow struct {
	*protocol.Summary
	Started  *time.Time `json:"turn_started,omitempty"`
	LagBytes int64      `json:"lag_bytes,omitempty"` // of the slowest client
	Rate     float64    `json:"-"`                   // tokens per second; live only
}

func runTop(ctx context.Context, o *topOptions) (err error) {
	live := o.app.hasScreen() && !o.app.json()
	if live {
		var stop func() error
		ctx, stop = notifySignal(ctx)
		defer func() { err = cmp.Or(stop(), err) }()
	}
	c, err := o.app.connectWith(ctx, bounded)
	if err != nil {
		return err
	}
	defer c.Close()
	if live {
		return o.redraw(c)
	}
	rows, err := o.rows(c)
	if err != nil {
		return err
	}
	if !o.app.json() {
		_, err := io.WriteString(o.app.text(), topTable(rows, time.Now(), 0))
		return err
	}
	for i := range rows {
		if err := o.app.print(&rows[i], nil); err != nil {
			return err
		}
	}
	return nil
}

// rows returns the sessions in the order of need. Turns and clients are those of the sessions at
// work or with clients.
func (o *topOptions) rows(c *connection) ([]topRow, error) {
	filters, err := parseSessionFilters(o.Filter)
	if err != nil {
		return nil, err
	}
	list, err := call[protocol.ListResult](c, protocol.DoList, "", protocol.ListData{})
	if err != nil {
		return nil, err
	}
	sorted := sessionlist.New()
	for i := range list.Sessions {
		if matchesAll(filters, &list.Sessions[i]) {
			sorted.Put(list.Sessions[i])
		}
	}
	rows := make([]topRow, sorted.Len())
	for i := range rows {
		s := sorted.At(i)
		rows[i].Summary = &s
		if s.Turn == "" && s.Clients == 0 {
			continue
		}
		snap, err := c.snapshot(s.Session)
		if protocol.CodeOf(err) == protocol.CodeNoSession {
			continue // removed meanwhile
		}
		if err != nil {
			return nil, err
		}
		if t := snap.Snapshot.State.Turn; t != nil {
			rows[i].Started = &t.Started
		}
		for _, client := range snap.Clients {
			rows[i].LagBytes = max(rows[i].LagBytes, client.LagBytes)
		}
	}
	return rows, nil
}

// Sequences of the terminal.
const (
	enterScreen = ansi.SetModeAltScreenSaveCursor + ansi.HideCursor
	leaveScreen = ansi.ShowCursor + ansi.ResetModeAltScreenSaveCursor
)

// redraw draws the table until a key leaves, the connection is lost or a signal ends the program.
func (o *topOptions) redraw(c *connection) error {
	in, isFile := o.app.stdin.(*os.File)
	if !isFile {
		return exit.Usagef("stdin is not a terminal")
	}
	state, err := term.MakeRaw(in.Fd())
	if err != nil {
		return fmt.Errorf("terminal: %w", err)
	}
	defer func() { _ = term.Restore(in.Fd(), state) }()
	if _, err := io.WriteString(o.app.stdout, enterScreen); err != nil {
		return err
	}
	defer func() { _, _ = io.WriteString(o.app.stdout, leaveScreen) }()
	left := make(chan struct{})
	go func() { // ends with a key that leaves, or with the process
		defer close(left)
		for b := make([]byte, 1); ; {
			if n, err := in.Read(b); err != nil || n == 1 && leavesTop(b[0]) {
				return
			}
		}
	}()
	tick := time.NewTicker(topInterval)
	defer tick.Stop()
	rates := topRates{}
	for {
		rows, err := o.rows(c)
		if err != nil {
			return err
		}
		now := time.Now()
		rates.add(rows, now)
		width, height := o.size()
		if err := o.draw(topTable(rows, now, width), width, height); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-left:
			return nil
		case <-c.ctx.Done():
			return context.Cause(c.ctx)
		}
	}
}

// leavesTop reports whether a key leaves: q, Ctrl-C or Ctrl-D.
func leavesTop(key byte) bool { return key == 'q' || key == 'Q' || key == 3 || key == 4 }

// size returns the columns and rows of the terminal.
func (o *topOptions) size() (width, height int) {
	if f, ok := o.app.stdout.(*os.File); ok {
		if w, h, err := term.GetSize(f.Fd()); err == nil && w > 0 && h > 1 {
			return w, h
		}
	}
	return 80, 24
}

// draw replaces the screen by what fits of a table.
func (o *topOptions) draw(table string, width, height int) error {
	lines := strings.Split(strings.TrimSuffix(table, "\n"), "\n")
	if hidden := len(lines) - (height - 1); hidden > 0 {
		lines = append(lines[:height-2], fmt.Sprintf("… %d more", hidden+1))
	}
	lines = append(lines, "q leaves")
	var b strings.Builder
	b.WriteString(ansi.CursorHomePosition)
	for i, line := range lines {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString(ansi.Truncate(line, width, "…") + ansi.EraseLineRight)
	}
	b.WriteString(ansi.EraseScreenBelow)
	_, err := io.WriteString(o.app.stdout, b.String())
	return err
}
