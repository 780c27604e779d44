package attach

import (
	"context"
	"fmt"
	"io"
	"strings"

	"agentctl/internal/cli/verb"
)

type keysOptions struct{ verb.Options }

var keysVerb = verb.Verb{
	Use:   "keys",
	Short: "List the actions and keys of the terminal UI",
	Long: `List the actions of the terminal UI and their keys. "keys" in the configuration file
maps actions to other keys; see docs/screen.md. Actions that only earlier versions knew are
ignored; a note names what takes their place.`,
	Example: "  agentctl keys",
	Group:   verb.GroupServer,

	Do: &verb.Steps[keysOptions]{Run: runKeys},
}

func runKeys(_ context.Context, o *keysOptions) error {
	if o.CLI.UserErr != nil {
		return o.CLI.UserErr
	}
	bindings, err := o.CLI.User.Keys.Bindings()
	if err != nil {
		return err
	}
	place := ""
	for _, b := range bindings {
		if err := o.CLI.Out.Print(b, func(w io.Writer) {
			if b.Place != place {
				place = b.Place
				fmt.Fprintln(w, place)
			}
			fmt.Fprintf(w, "  %-26s %-28s %s\n", b.Action, strings.Join(b.Keys, ", "), b.About)
		}); err != nil {
			return err
		}
	}
	for _, n := range o.CLI.User.Retired() {
		o.CLI.Out.Notef("%s", n)
	}
	return nil
}
