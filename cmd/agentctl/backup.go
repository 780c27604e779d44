package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"agentctl/internal/output"
	"agentctl/server/sqlite"
)

type backupOptions struct {
	app *app

	File string
}

func newBackup(a *app, run func(context.Context, *backupOptions) error) *cobra.Command {
	o := &backupOptions{app: a}
	return &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy all sessions of the local server to a file",
		Long: `Copy all sessions of the data directory, with their transcripts and blobs, to a new FILE
that only you can read. A running server goes on: the copy is the state at one moment. FILE appears
when it is complete.

The copy has no credentials. Variables that sessions were given (--env) are encrypted in it, with the
key "env.key" of the data directory: keep a copy of that file elsewhere.`,
		Example: "  agentctl backup sessions.db\n  agentctl check sessions.db",
		Args:    rangeArgs(1, 1),
		RunE:    runE(a, o, func(args []string) error { o.File = args[0]; return nil }, run),
	}
}

func runBackup(ctx context.Context, o *backupOptions) error {
	dir, err := o.app.dataDir()
	if err != nil {
		return err
	}
	report, end := o.app.printer().Progress("backup")
	err = sqlite.Backup(ctx, string(dir), o.File, report)
	end()
	if err != nil {
		return storeError(err)
	}
	result := struct {
		File  string `json:"file"`
		Bytes int64  `json:"bytes"`
	}{File: o.File}
	if info, err := os.Stat(o.File); err == nil {
		result.Bytes = info.Size()
	}
	return o.app.print(result, func(w io.Writer) {
		fmt.Fprintf(w, "%s  %s\n", result.File, output.Bytes(result.Bytes))
	})
}
