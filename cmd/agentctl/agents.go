package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

type agentsOptions struct{ app *app }

func newAgents(a *app, run func(context.Context, *agentsOptions) error) *cobra.Command {
	o := &agentsOptions{app: a}
	return &cobra.Command{
		Use:   "agents",
		Short: "List the agents of the server",
		Long: `List the agents that the server can run by name: configured agents and presets. See
"agentctl new --help" for ad hoc commands.`,
		Example: "  agentctl agents",
		Args:    rangeArgs(0, 0),
		RunE:    runE(a, o, nil, run),
	}
}

func runAgents(ctx context.Context, o *agentsOptions) error {
	c, err := o.app.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	for _, name := range c.Hello().Agents {
		result := struct {
			Agent string `json:"agent"`
		}{name}
		if err := o.app.print(result, func(w io.Writer) { fmt.Fprintln(w, name) }); err != nil {
			return err
		}
	}
	return nil
}
