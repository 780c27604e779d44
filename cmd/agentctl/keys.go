package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

type keysOptions struct{ app *app }

func newKeys(a *app, run func(context.Context, *keysOptions) error) *cobra.Command {
	o := &keysOptions{app: a}
	return &cobra.Command{
		Use:   "keys",
		Short: "List the actions and keys of the terminal UI",
		Long: `List the actions of the terminal UI and their keys. "keys" in the configuration file
maps actions to other keys; see "agentctl attach --help". Actions that only earlier versions knew are
ignored; a note names what takes their place.`,
		Example: "  agentctl keys",
		Args:    rangeArgs(0, 0),
		RunE:    runE(a, o, nil, run),
	}
}

func runKeys(_ context.Context, o *keysOptions) error {
	if o.app.userConfigErr != nil {
		return o.app.userConfigErr
	}
	bindings, err := o.app.userConfig.Keys.Bindings()
	if err != nil {
		return err
	}
	place := ""
	for _, b := range bindings {
		if err := o.app.print(b, func(w io.Writer) {
			if b.Place != place {
				place = b.Place
				fmt.Fprintln(w, place)
			}
			fmt.Fprintf(w, "  %-26s %-28s %s\n", b.Action, strings.Join(b.Keys, ", "), b.About)
		}); err != nil {
			return err
		}
	}
	for _, n := range o.app.userConfig.Retired() {
		o.app.notef("%s", n)
	}
	return nil
}
