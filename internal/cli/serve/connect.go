package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/internal/localserver/instance"
	"agentctl/internal/ssh"
)

type connectOptions struct {
	verb.Options
}

var connectVerb = verb.Verb{
	Use:   "connect",
	Short: "Connect stdin and stdout to the local server",
	Long: `Connect stdin and stdout to the socket of the local server, which is started if necessary. A client
on another machine runs it through ssh: agentctl --server ssh://HOST ls. It has the rights of the
account. After the line "agentctl: connected" everything is the connection.`,
	Example: "  agentctl --server ssh://ada@box ls",
	Group:   verb.GroupServer, Place: verb.ThisMachine,

	Do: &verb.Steps[connectOptions]{Run: runConnect},
}

func runConnect(ctx context.Context, o *connectOptions) error {
	if err := o.CLI.Dir.EnsureRunning(ctx, !o.CLI.Flags.NoStart); err != nil {
		return instance.StoreError(err)
	}
	c, err := new(net.Dialer).DialContext(ctx, "unix", o.CLI.Dir.Socket())
	if err != nil {
		return exit.Unreachablef("connect: %w", err)
	}
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	if _, err := fmt.Fprintln(o.CLI.Out.Stdout, ssh.Greeting); err != nil {
		return errors.Join(err, c.Close())
	}
	input := make(chan struct{})
	go func() { // ends with the input, or with the process
		_, _ = io.Copy(c, o.CLI.Stdin)
		close(input)
		_ = c.Close()
	}()
	_, err = io.Copy(o.CLI.Out.Stdout, c)
	select {
	case <-input: // the client has ended the connection
		return nil
	default:
	}
	return errors.Join(err, c.Close())
}
