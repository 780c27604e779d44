package main

import (
	"bufio"
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"agentctl/internal/exit"
	"agentctl/internal/export"
	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/wsclient"
)

type exportOptions struct {
	app *app

	Session string
	Format  export.Format
}

func newExport(a *app, run func(context.Context, *exportOptions) error) *cobra.Command {
	o := &exportOptions{app: a}
	cmd := &cobra.Command{
		Use:   "export SESSION",
		Short: "Export a session as a document",
		Long: `Print a whole session as a document: md is Markdown, jsonl the events, html a
self-contained page, asciicast a terminal recording for asciinema.`,
		Example:           "  agentctl export fix --format md >fix.md",
		Args:              rangeArgs(1, 1),
		ValidArgsFunction: a.completeSessions,
	}
	cmd.RunE = runE(a, o, func(args []string) error {
		o.Session = args[0]
		if !slices.Contains(export.Formats, o.Format) {
			return exit.Usagef("invalid --format %q: want %s", o.Format, strings.Join(export.Formats, ", "))
		}
		return nil
	}, run)
	cmd.Flags().StringVar(&o.Format, "format", export.FormatMarkdown, "`FORMAT`: "+strings.Join(export.Formats, ", "))
	completeValues(cmd, "format", export.Formats)
	return cmd
}

func runExport(ctx context.Context, o *exportOptions) error {
	if o.Format == export.FormatJSONLines {
		return runEvents(ctx, &eventsOptions{app: o.app, Session: o.Session})
	}
	c, err := o.app.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	out := bufio.NewWriter(o.stdout())
	if err := o.write(out, c); err != nil {
		return err
	}
	return output.WriteError(out.Flush())
}

// stdout returns stdout for the format. On a terminal, text in it must not control the terminal.
func (o *exportOptions) stdout() io.Writer {
	switch {
	case o.Format != export.FormatHTML:
		return o.app.stdout // the others clean their text
	case output.IsTerminal(o.app.stdout):
		return o.app.text()
	}
	return o.app.stdout
}

func (o *exportOptions) write(out *bufio.Writer, c *connection) error {
	r := logReader{conn: c, app: o.app, session: o.Session, raw: o.Format == export.FormatAsciicast}
	if o.Format == export.FormatAsciicast {
		cast := export.NewAsciicast(out)
		return r.read(protocol.Position{}, func(item wsclient.Item) error {
			if item.Event == nil {
				return nil
			}
			return cast.Write(item.Event)
		})
	}
	state, transcript, err := r.readTranscript()
	if err != nil {
		return err
	}
	if o.Format == export.FormatHTML {
		return export.WriteHTML(out, state, transcript)
	}
	m := export.Markdown{W: &output.CleanWriter{W: out}, Session: o.Session, Reasoning: true}
	m.Header(state)
	for _, turn := range transcript.Turns {
		m.Turn(turn, false)
	}
	return nil
}
