package store

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/internal/localserver/instance"
	"agentctl/server/sqlite"
)

type restoreOptions struct {
	verb.Options

	File    string
	Replace bool
}

var restoreVerb = verb.Verb{
	Use:   "restore FILE",
	Short: "Restore the sessions of the local server from a backup",
	Long: `Verify a FILE of "agentctl backup" and make a copy of it the sessions of the data directory. No
server may run on it. With --replace, the present sessions are moved to a file beside them, whose
name is printed. Every session has a new epoch, and clients start over. See docs/operations.md.`,
	Example: "  agentctl restore sessions.db\n  agentctl restore --replace sessions.db",
	Group:   verb.GroupServer, Place: verb.DataDirectory,
	Trial: "nonsense",

	Do: &verb.Steps[restoreOptions]{
		Flags: func(o *restoreOptions, cmd *cobra.Command) {
			cmd.Flags().BoolVar(&o.Replace, "replace", false, "replace sessions that are there, and keep them in a file")
		},
		Read: func(o *restoreOptions, args []string) error { o.File = args[0]; return nil },
		Run:  runRestore,
	},
}

func runRestore(ctx context.Context, o *restoreOptions) error {
	if err := connection.RequireUser(ctx, o.CLI, "restore sessions from a backup"); err != nil {
		return err
	}
	dir := o.CLI.Dir
	if err := dir.Create(); err != nil {
		return err
	}
	report, end := o.CLI.Out.Progress("restore")
	kept, err := sqlite.Restore(ctx, o.File, string(dir), o.Replace, report)
	end()
	if err != nil {
		return instance.StoreError(err)
	}
	return o.CLI.Out.Print(keptResult{kept}, func(w io.Writer) {
		fmt.Fprintf(w, "restored %s\n", dir)
		if kept != "" {
			fmt.Fprintf(w, "the previous sessions are in %s\n", kept)
		}
	})
}

// A keptResult is the result of a verb that replaced the database.
type keptResult struct {
	Kept string `json:"kept,omitempty"` // path of the previous database
}
