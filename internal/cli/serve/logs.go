package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/host"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/internal/localserver"
	"agentctl/internal/redact"
	"agentctl/internal/serverlog"
	"agentctl/protocol"
)

type logsOptions struct {
	verb.Options

	Lines  int
	Follow bool

	secrets redact.Log
}

var logsVerb = verb.Verb{
	Use:   "logs",
	Short: "Show the log of the local server",
	Long: `Show the last records of the log of this data directory's server, and new ones with --follow. No
server is started. The log is "server.log" in the data directory, or the file of --log-file; a
server in a terminal or a service manager logs to stderr otherwise. With -o json each record is an
object. See docs/operations.md.`,
	Example: "  agentctl logs\n  agentctl logs -n 20 --follow\n  agentctl logs -n -1 -o json",
	Group:   verb.GroupServer, Place: verb.DataDirectory,
	Trial: "--follow --timeout 1s",

	Do: &verb.Steps[logsOptions]{
		Flags: func(o *logsOptions, cmd *cobra.Command) {
			cmd.Flags().IntVarP(&o.Lines, "lines", "n", 100, "show the last `N` records, all with -1")
			cmd.Flags().BoolVarP(&o.Follow, "follow", "f", false, "follow new records")
		},
		Run: runLogs,
	},
}

func runLogs(ctx context.Context, o *logsOptions) error {
	dir := o.CLI.Dir
	path := dir.LogPath()
	if path == "" {
		return exit.Errorf(exit.Failure, protocol.CodeNotFound,
			"the server with pid %d logs to its standard error, not to a file", dir.Holder()).
			WithHint("look where it was started, such as its terminal or journalctl, or start it with --log-file")
	}
	tail, err := serverlog.OpenTail(path)
	if errors.Is(err, fs.ErrNotExist) {
		return exit.Errorf(exit.Failure, protocol.CodeNotFound, "no log: %s does not exist", path).
			WithHint("agentctl attach, new and send start a server with a log")
	}
	if err != nil {
		return err
	}
	defer tail.Close() //nolint:errcheck // only read
	o.noteFile(dir, path)
	o.secrets.Set(host.LogSecrets(o.CLI.Env, dir))
	lines, err := tail.Last(o.Lines)
	if err != nil {
		return err
	}
	for _, line := range lines {
		if err := o.print(line); err != nil {
			return err
		}
	}
	if !o.Follow {
		return nil
	}
	ctx, stop := verb.WhileRead(ctx, o.CLI.Out.Stdout)
	defer stop()
	return tail.Follow(ctx, o.print)
}

// noteFile says on a terminal which file follows.
func (o *logsOptions) noteFile(dir localserver.Dir, path string) {
	if pid := dir.Holder(); pid != 0 {
		o.CLI.Out.Notef("%s, of the server with pid %d", path, pid)
		return
	}
	o.CLI.Out.Notef("%s, of the last background server; none runs", path)
}

// print prints a record.
func (o *logsOptions) print(line []byte) error {
	if !serverlog.IsRecord(line) { // the trace of a crash, which the next server redacts
		line = []byte(o.secrets.Redact(string(line)))
	}
	var record any = struct {
		Line string `json:"line"`
	}{string(line)}
	if len(line) > 0 && line[0] == '{' && json.Valid(line) {
		record = json.RawMessage(line)
	}
	return o.CLI.Out.Print(record, func(w io.Writer) { fmt.Fprintf(w, "%s\n", line) })
}
