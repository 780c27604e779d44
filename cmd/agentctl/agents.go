package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentctl/protocol"
)

type agentsOptions struct{ app *app }

func newAgents(a *app, run func(context.Context, *agentsOptions) error) *cobra.Command {
	o := &agentsOptions{app: a}
	return &cobra.Command{
		Use:     "agents",
		Short:   "List the agents that the server can run",
		Long:    "List the agents that the server can run by name: those it is configured with, and presets. See \"agentctl new\" for others.",
		Example: "  agentctl agents",
		Args:    takes(0, 0),
		RunE:    does(a, o, nil, run),
	}
}

func runAgents(ctx context.Context, o *agentsOptions) error {
	if d := o.app.flags.Dialect; d != "" { // no hello of theirs names any
		return protocol.Errorf(protocol.CodeUnsupported, "the dialect %s cannot say agents", d)
	}
	l, err := o.app.connect(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	for _, name := range l.Hello().Agents {
		v := struct {
			Agent string `json:"agent"`
		}{name}
		if err := o.app.emit(v, func(w io.Writer) { fmt.Fprintln(w, name) }); err != nil {
			return err
		}
	}
	return nil
}
