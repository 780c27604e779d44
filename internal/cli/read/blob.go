package read

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/internal/output"
	"agentctl/protocol"
)

type blobOptions struct {
	verb.Options

	Session string
	Blob    string
	Out     string
}

var blobVerb = verb.Verb{
	Use:   "blob SESSION ID",
	Short: "Print or save a blob",
	Long: `Print a blob: content too large for an event, such as a large output or an image. Events name
it in the field "blob"; history, export and the screen show its id. With --out, save it. Binary
content is not printed on a terminal. With -o json, print the type, the size, and the content in
base64 or the name of the file.`,
	Example: "  agentctl blob fix b_0f343b0931126a20f133d67c --out shot.png\n" +
		"  agentctl blob fix b_0f343b0931126a20f133d67c | less",
	Group: verb.GroupRead, Reads: true, Sends: protocol.DoBlob,
	Trial:    "fix b_000000000000000000000000",
	Complete: completion.Sessions,

	Do: &verb.Steps[blobOptions]{
		Flags: func(o *blobOptions, cmd *cobra.Command) {
			cmd.Flags().StringVar(&o.Out, "out", "", "save to `FILE`, which is replaced")
		},
		Read: func(o *blobOptions, args []string) error {
			o.Session, o.Blob = args[0], args[1]
			return nil
		},
		Run: runBlob,
	},
}

// A savedBlob is the result of blob in JSON: Data, or the File that has it.
type savedBlob struct {
	Blob      string `json:"blob"`
	MediaType string `json:"media_type,omitempty"`
	Bytes     int64  `json:"bytes"`
	File      string `json:"file,omitempty"`
	Data      []byte `json:"data,omitempty"` // base64
}

func runBlob(ctx context.Context, o *blobOptions) error {
	c, err := connection.Open(ctx, o.CLI)
	if err != nil {
		return err
	}
	defer c.Close()
	b, err := o.read(c)
	if err != nil {
		return err
	}
	switch {
	case o.Out != "":
		return o.save(b)
	case o.CLI.Out.JSON:
		return o.CLI.Out.PrintJSON(b)
	case !output.IsTerminal(o.CLI.Out.Stdout):
		_, err := o.CLI.Out.Stdout.Write(b.Data)
		return output.WriteError(err)
	case !utf8.Valid(b.Data) || bytes.IndexByte(b.Data, 0) >= 0:
		return exit.Usagef("blob %s is binary: %s, %d bytes", b.Blob, output.Cell(b.MediaType, 80), b.Bytes).
			WithHint("save it: agentctl blob %s %s --out FILE", o.Session, b.Blob)
	}
	_, err = o.CLI.Out.Text().Write(b.Data)
	return output.WriteError(err)
}

// read requests the pieces of the blob.
func (o *blobOptions) read(c *connection.Conn) (*savedBlob, error) {
	b := &savedBlob{Blob: o.Blob}
	for {
		piece, err := connection.Call[protocol.BlobResult](c, protocol.DoBlob, o.Session,
			protocol.BlobData{Blob: o.Blob, Offset: int64(len(b.Data))})
		if err != nil {
			return nil, err
		}
		b.MediaType, b.Bytes = piece.MediaType, piece.Bytes
		b.Data = append(b.Data, piece.Data...)
		switch got := int64(len(b.Data)); {
		case got == b.Bytes:
			return b, nil
		case got > b.Bytes || len(piece.Data) == 0:
			return nil, fmt.Errorf("blob %s: the server sent %d of %d bytes", o.Blob, got, b.Bytes)
		}
	}
}

// save writes the blob to the file of --out.
func (o *blobOptions) save(b *savedBlob) error {
	if err := os.WriteFile(o.Out, b.Data, 0o600); err != nil {
		return fmt.Errorf("save blob: %w", err)
	}
	if o.CLI.Out.JSON {
		b.File, b.Data = o.Out, nil
		return o.CLI.Out.PrintJSON(b)
	}
	o.CLI.Out.Notef("saved %s: %s, %d bytes", o.Out, output.Cell(b.MediaType, 80), b.Bytes)
	return nil
}
