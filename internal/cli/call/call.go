package call

import (
	"io"

	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
)

// A Call is a command that is about to be sent.
type Call struct {
	CLI  *verb.Context
	Data any

	conn    *connection.Conn
	options *Options
}

// Send sends the command and returns its result.
func Send[R any](c *Call) (R, error) {
	if c.options.Key != "" {
		return connection.CallWithKey[R](c.conn, c.options.send, c.options.Session, c.options.Key, c.Data)
	}
	return connection.Call[R](c.conn, c.options.send, c.options.Session, c.Data)
}

// Print returns a Run that prints the result: as JSON, or what text writes.
func Print[R any](text func(io.Writer, *R)) func(*Call) error {
	return func(c *Call) error {
		res, err := Send[R](c)
		if err != nil {
			return err
		}
		return c.CLI.Out.Print(&res, func(w io.Writer) { text(w, &res) })
	}
}
