package steer

import (
	"context"
	"fmt"
	"time"

	"agentctl/internal/exit"
	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/tui/plain"
)

// asks reports whether the user is shown the request and asked before it is allowed: on a terminal,
// unless --yes is given.
func (o *decisionOptions) asks() bool {
	return o.Decision != protocol.Deny && o.Decision != protocol.DenyStop && o.Decision != protocol.Explain &&
		!o.Yes && output.IsTerminal(o.CLI.Stdin) && output.IsTerminal(o.CLI.Out.Stdout)
}

// confirm shows a request in full and asks whether to allow it. The decision is then about this
// request, whatever became pending since then.
func (o *decisionOptions) confirm(ctx context.Context, a *protocol.Approval) error {
	if a == nil && o.Request == "" {
		return exit.Unsupportedf("there is no single pending request to show: name one, or pass --yes")
	}
	if a == nil {
		return nil // the server reports its state
	}
	o.Request = a.Request
	fmt.Fprint(o.CLI.Out.Stdout, plain.Request(a, time.Local, o.CLI.Out.Columns()))
	question := "allow once"
	switch {
	case o.Option != "":
		question = "choose the option " + output.OneLine(o.Option, 0)
	case o.Always:
		question = "allow always, " + output.OneLine(a.Scope(), 0)
	}
	yes, err := o.CLI.Input().Confirm(ctx, o.CLI.Out.Stdout, question+"?")
	if err == nil && !yes {
		return exit.Usagef("not decided: answer y to allow the request, or pass --yes")
	}
	return err
}
