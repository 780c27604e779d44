package main

import (
	"bufio"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"agentctl/protocol"
	"agentctl/wsclient"
)

// The export formats.
const (
	exportMarkdown  = "md"
	exportLines     = "jsonl"
	exportHTML      = "html"
	exportAsciicast = "asciicast"
)

var exportFormats = []string{exportMarkdown, exportLines, exportHTML, exportAsciicast}

type exportOptions struct {
	app *app

	Session string
	Format  string
}

func newExport(a *app, run func(context.Context, *exportOptions) error) *cobra.Command {
	o := &exportOptions{app: a}
	cmd := &cobra.Command{
		Use:   "export SESSION --format md|jsonl|html|asciicast",
		Short: "Print a whole session as a document",
		Long: `Print a whole session: md is a document for people, jsonl are the events as they were, html is a page that needs nothing else,
asciicast plays in a terminal as it happened (asciinema).`,
		Example:           "  agentctl export fix --format md >fix.md",
		Args:              takes(1, 1),
		ValidArgsFunction: a.sessions,
	}
	cmd.RunE = does(a, o, func(args []string) error {
		o.Session = args[0]
		if !slices.Contains(exportFormats, o.Format) {
			return usagef("--format is md, jsonl, html or asciicast, not %q", o.Format)
		}
		return nil
	}, run)
	cmd.Flags().StringVar(&o.Format, "format", exportMarkdown, "md, jsonl, html or asciicast")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(exportFormats, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func runExport(ctx context.Context, o *exportOptions) error {
	if o.Format == exportLines {
		return runEvents(ctx, &eventsOptions{app: o.app, Session: o.Session})
	}
	l, err := o.app.connect(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	r := reader{link: l, app: o.app, session: o.Session, raw: o.Format == exportAsciicast}
	if o.Format == exportAsciicast {
		return o.cast(&r)
	}
	state, transcript := &protocol.State{}, &protocol.Transcript{}
	err = r.read(protocol.Position{}, func(item wsclient.Item) error {
		if item.Event == nil {
			return nil
		}
		if err := state.Apply(item.Event); err != nil {
			return fmt.Errorf("export: %w", err)
		}
		if _, err := transcript.Apply(item.Event); err != nil {
			return fmt.Errorf("export: %w", err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if state.Created.IsZero() { // a dialect told nothing of the past
		now, err := ask[protocol.SnapshotResult](l, protocol.DoSnapshot, o.Session, nil)
		if err != nil {
			return err
		}
		if now.Snapshot.State != nil {
			state = now.Snapshot.State
		}
	}
	out := bufio.NewWriter(o.app.stdout)
	if o.Format == exportHTML {
		if err := writePage(out, state, transcript); err != nil {
			return err
		}
		return wrapOutput(out.Flush())
	}
	m := markdown{w: &cleanWriter{w: out}, reasoning: true}
	m.head(state)
	for _, turn := range transcript.Turns {
		m.turn(turn, true)
	}
	return wrapOutput(out.Flush())
}
