package call

import (
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/protocol"
)

// A Table has the rows of a package of verbs.
type Table []Row

// Below returns the verbs of the rows directly below a path; "": those that are below no other.
func (t Table) Below(parent string) (verbs []*verb.Verb) {
	for i := range t {
		r := &t[i]
		path, below := strings.CutPrefix(r.Use, parent)
		name, arguments, _ := strings.Cut(strings.TrimPrefix(path, " "), " ")
		if !below || arguments == "" || !unicode.IsUpper(rune(arguments[0])) {
			continue
		}
		v := r.Verb
		v.Name = name
		v.Build = func(cli *verb.Context) *cobra.Command { return r.New(cli, r.run) }
		verbs = append(verbs, &v)
	}
	return verbs
}

// Row returns the row of a path, or nil.
func (t Table) Row(path string) *Row {
	i := slices.IndexFunc(t, func(r Row) bool { return strings.HasPrefix(r.Use, path+" SESSION") })
	if i < 0 {
		return nil
	}
	return &t[i]
}

// A Call is a command that is about to be sent.
type Call struct {
	CLI  *verb.Context
	Data any

	conn    *connection.Conn
	command protocol.Verb
	options *Options
}

// Send sends the command and returns its result.
func Send[R any](c *Call) (R, error) {
	if c.options.Key != "" {
		return connection.CallWithKey[R](c.conn, c.command, c.options.Session, c.options.Key, c.Data)
	}
	return connection.Call[R](c.conn, c.command, c.options.Session, c.Data)
}

// Print returns a Run that prints the result: as JSON, or what text writes.
func Print[R any](text func(io.Writer, *R)) func(*Call) error {
	return func(c *Call) error {
		res, err := Send[R](c)
		if err != nil {
			return err
		}
		return c.CLI.Print(&res, func(w io.Writer) { text(w, &res) })
	}
}
