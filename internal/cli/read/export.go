package read

import (
	"bufio"
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/sessionlog"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/internal/export"
	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/wsclient"
)

type exportOptions struct {
	verb.Options

	Session string
	Format  export.Format
}

var exportVerb = verb.Verb{
	Use:   "export SESSION",
	Short: "Export a session as a document",
	Long: `Print a whole session as a document: md is Markdown, jsonl the events, html a
self-contained page, asciicast a terminal recording for asciinema.`,
	Example: "  agentctl export fix --format md >fix.md",
	Group:   verb.GroupRead, Reads: true, Sends: protocol.DoSubscribe,
	Trial:    "fix",
	Complete: completion.Sessions,

	Do: &verb.Steps[exportOptions]{
		Flags: func(o *exportOptions, cmd *cobra.Command) {
			cmd.Flags().StringVar(&o.Format, "format", export.FormatMarkdown, "`FORMAT`: "+strings.Join(export.Formats, ", "))
			verb.CompleteValues(cmd, "format", export.Formats)
		},
		Read: func(o *exportOptions, args []string) error {
			o.Session = args[0]
			if !slices.Contains(export.Formats, o.Format) {
				return exit.Usagef("invalid --format %q: want %s", o.Format, strings.Join(export.Formats, ", "))
			}
			return nil
		},
		Run: runExport,
	},
}

func runExport(ctx context.Context, o *exportOptions) error {
	if o.Format == export.FormatJSONLines {
		return runEvents(ctx, &eventsOptions{Options: o.Options, Session: o.Session})
	}
	c, err := connection.Open(ctx, o.CLI)
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
		return o.CLI.Out.Stdout // the others clean their text
	case output.IsTerminal(o.CLI.Out.Stdout):
		return o.CLI.Out.Text()
	}
	return o.CLI.Out.Stdout
}

func (o *exportOptions) write(out *bufio.Writer, c *connection.Conn) error {
	r := sessionlog.Reader{Conn: c, CLI: o.CLI, Session: o.Session, Raw: o.Format == export.FormatAsciicast}
	if o.Format == export.FormatAsciicast {
		cast := export.NewAsciicast(out)
		return r.Read(protocol.Position{}, func(item wsclient.Item) error {
			if item.Event == nil {
				return nil
			}
			return cast.Write(item.Event)
		})
	}
	state, transcript, err := r.ReadTranscript()
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
