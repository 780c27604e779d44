package attach

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/verb"
)

type keysOptions struct{ cli *verb.Context }

var keysVerb = verb.Verb{
	Name: "keys", Group: verb.GroupServer,
	Build: func(cli *verb.Context) *cobra.Command { return newKeys(cli, runKeys) },
}

func newKeys(cli *verb.Context, run func(context.Context, *keysOptions) error) *cobra.Command {
	o := &keysOptions{cli: cli}
	return &cobra.Command{
		Use:   "keys",
		Short: "List the actions and keys of the terminal UI",
		Long: `List the actions of the terminal UI and their keys. "keys" in the configuration file
maps actions to other keys; see "agentctl attach --help". Actions that only earlier versions knew are
ignored; a note names what takes their place.`,
		Example: "  agentctl keys",
		Args:    verb.RangeArgs(0, 0),
		RunE:    verb.RunE(cli, o, nil, run),
	}
}

func runKeys(_ context.Context, o *keysOptions) error {
	if o.cli.UserErr != nil {
		return o.cli.UserErr
	}
	bindings, err := o.cli.User.Keys.Bindings()
	if err != nil {
		return err
	}
	place := ""
	for _, b := range bindings {
		if err := o.cli.Print(b, func(w io.Writer) {
			if b.Place != place {
				place = b.Place
				fmt.Fprintln(w, place)
			}
			fmt.Fprintf(w, "  %-26s %-28s %s\n", b.Action, strings.Join(b.Keys, ", "), b.About)
		}); err != nil {
			return err
		}
	}
	for _, n := range o.cli.User.Retired() {
		o.cli.Notef("%s", n)
	}
	return nil
}
