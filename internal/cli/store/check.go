package store

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/internal/localserver/instance"
	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/server/sqlite"
)

type storeCheckOptions struct {
	verb.Options

	File  string
	Quick bool
}

var checkVerb = verb.Verb{
	Use:   "check [FILE]",
	Short: "Verify the stored sessions, or a backup",
	Long: `Verify every checksum of the stored sessions, and that no event is missing. Without
FILE it verifies the data directory; its server may run. It prints what is damaged, one line each,
and then what can be read, and exits 1 if something is damaged. With --quick the contents of events,
folds and blobs are not read.`,
	Example: "  agentctl check\n  agentctl check sessions.db",
	Group:   verb.GroupServer, Place: verb.DataDirectory,
	Trial: "--quick",

	Do: &verb.Steps[storeCheckOptions]{
		Flags: func(o *storeCheckOptions, cmd *cobra.Command) {
			cmd.Flags().BoolVar(&o.Quick, "quick", false, "do not read the contents of events, folds and blobs")
		},
		Read: func(o *storeCheckOptions, args []string) error {
			if len(args) > 0 {
				o.File = args[0]
			}
			return nil
		},
		Run: runCheck,
	},
}

func runCheck(ctx context.Context, o *storeCheckOptions) error {
	path, hint := o.File, "use another backup; agentctl restore takes none that is damaged"
	if path == "" {
		path, hint = sqlite.Path(string(o.CLI.Dir)), "keep what can be read: agentctl stop, then agentctl repair"
	}
	report, end := o.CLI.Out.Progress("check")
	found, err := sqlite.Check(ctx, path, sqlite.CheckOptions{
		Quick: o.Quick, Report: report,
		Damage: func(d sqlite.Damage) error {
			end()
			if d.Part == sqlite.PartLog {
				hint = "put the file back; or restore a backup: agentctl restore FILE --replace; " +
					"or keep what the database has, without what was stored last: agentctl repair --without-log"
			}
			return printDamage(o.CLI.Out, d)
		},
	})
	end()
	if err != nil {
		return instance.StoreError(err)
	}
	if err := printReport(o.CLI.Out, found); err != nil {
		return err
	}
	if found.Damages > 0 {
		problem := exit.Errorf(exit.Failure, protocol.CodeCorrupt, "%d damages in %s", found.Damages, path)
		return problem.WithHint("%s", hint)
	}
	return nil
}

// printDamage prints a damage as a line.
func printDamage(p output.Printer, d sqlite.Damage) error {
	return p.Print(struct {
		Damage sqlite.Damage `json:"damage"`
	}{d}, func(w io.Writer) { fmt.Fprintf(w, "damaged: %s\n", d) })
}

// printReport prints what can be read.
func printReport(p output.Printer, r sqlite.Report) error {
	return p.Print(r, func(w io.Writer) {
		fmt.Fprintf(w, "readable: %d sessions, %d turns, %d events, %d blobs\n",
			r.Sessions, r.Turns, r.Events, r.Blobs)
	})
}
