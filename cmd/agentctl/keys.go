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
		Short: "List the screen's actions and their keys",
		Long: `List what can be done on the screen, with the keys that your configuration file gives: under "keys" there, the name of an action
has the keys that it is to have.`,
		Example: "  agentctl keys",
		Args:    takes(0, 0),
		RunE:    does(a, o, nil, run),
	}
}

func runKeys(_ context.Context, o *keysOptions) error {
	if o.app.personalErr != nil {
		return o.app.personalErr
	}
	all, err := o.app.personal.Keys.Bindings()
	if err != nil {
		return err
	}
	place := ""
	for _, b := range all {
		if err := o.app.emit(b, func(w io.Writer) {
			if b.Place != place {
				place = b.Place
				fmt.Fprintln(w, place)
			}
			fmt.Fprintf(w, "  %-26s %-28s %s\n", b.Action, strings.Join(b.Keys, ", "), b.About)
		}); err != nil {
			return err
		}
	}
	return nil
}
