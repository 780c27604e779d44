package store

import (
	"context"
	"fmt"
	"io"
	"os"

	"agentctl/internal/cli/verb"
	"agentctl/internal/format"
	"agentctl/internal/localserver/instance"
	"agentctl/server/sqlite"
)

type backupOptions struct {
	verb.Options

	File string
}

var backupVerb = verb.Verb{
	Use:   "backup FILE",
	Short: "Copy all sessions of the local server to a file",
	Long: `Copy all sessions of the data directory, with transcripts and blobs, to a new FILE that only you can
read. The server may run: the copy is the state at one moment. It has no credentials. Variables of
sessions are encrypted with "env.key" of the data directory: keep a copy of that file elsewhere. See
docs/operations.md.`,
	Example: "  agentctl backup sessions.db\n  agentctl check sessions.db",
	Group:   verb.GroupServer, Place: verb.DataDirectory,
	Trial: "copy.db",

	Do: &verb.Steps[backupOptions]{
		Read: func(o *backupOptions, args []string) error { o.File = args[0]; return nil },
		Run:  runBackup,
	},
}

func runBackup(ctx context.Context, o *backupOptions) error {
	report, end := o.CLI.Out.Progress("backup")
	err := sqlite.Backup(ctx, string(o.CLI.Dir), o.File, report)
	end()
	if err != nil {
		return instance.StoreError(err)
	}
	result := struct {
		File  string `json:"file"`
		Bytes int64  `json:"bytes"`
	}{File: o.File}
	if info, err := os.Stat(o.File); err == nil {
		result.Bytes = info.Size()
	}
	return o.CLI.Out.Print(result, func(w io.Writer) {
		fmt.Fprintf(w, "%s  %s\n", result.File, format.Bytes(result.Bytes))
	})
}

// Verbs are the verbs of this package, in the order of the help.
var Verbs = []*verb.Verb{
	&backupVerb, &restoreVerb, &checkVerb, &repairVerb,
}
