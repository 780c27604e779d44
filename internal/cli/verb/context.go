package verb

import (
	"fmt"
	"io"
	"os"
	"os/user"

	"agentctl/dialect"
	"agentctl/internal/config"
	"agentctl/internal/exit"
	"agentctl/internal/localserver"
	"agentctl/internal/output"
	"agentctl/protocol"
)

// A Context is one run of the program: the dependencies of every verb, and the global flags.
type Context struct {
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Env    func(string) string

	Build Build

	Flags    Flags
	User     config.User
	UserErr  error // returned by the first step that needs User
	Selected Selection
	Call     Invocation
	LastPeer func() exit.Peer // what the last connection knows of its server; nil: none was opened
}

// A Selection is how a server was chosen.
type Selection struct {
	Explicit bool               // by flags or environment
	Data     bool               // by --data, not only AGENTCTL_DATA
	Server   config.NamedServer // by --on; zero: none
}

// An Invocation is the command line of a verb, for hints.
type Invocation struct {
	Verb    string // its path, such as "queue edit"
	Session string // its first argument, or SESSION
	Started bool   // the verb has started: earlier errors are wrong usage
}

// DataDir returns the data directory of the local server.
func (cli *Context) DataDir() (localserver.Dir, error) {
	return localserver.FindDir(cli.Env, cli.Flags.Data)
}

// JSON reports whether results are lines of JSON.
func (cli *Context) JSON() bool { return cli.Flags.Output == FormatJSON }

// Printer returns the printer of results and notes in the form that the flags choose.
func (cli *Context) Printer() output.Printer {
	return output.Printer{Stdout: cli.Stdout, Stderr: cli.Stderr, JSON: cli.JSON(), Filter: cli.Flags.Filter}
}

// Print writes one result: v as a line of compact JSON, or what text writes.
func (cli *Context) Print(v any, text func(w io.Writer)) error { return cli.Printer().Print(v, text) }

// Text returns stdout for text.
func (cli *Context) Text() io.Writer { return cli.Printer().Text() }

// Columns returns the width of the terminal of the output, or 0 if it is none.
func (cli *Context) Columns() int { return output.Columns(cli.Stdout) }

// Notef writes a message for the user to stderr.
func (cli *Context) Notef(format string, args ...any) { cli.Printer().Notef(format, args...) }

// ownServer reports whether a URL is that of the server of this user's data directory. "" is.
func (cli *Context) ownServer(url string) bool {
	if url == "" {
		return true
	}
	dir, err := cli.DataDir()
	return err == nil && (url == dir.SocketURL() || dir.TokenFor(url) != "")
}

// RequireCommand returns an error if the dialect carries a command at no server. oneShot: for a
// client of one connection.
func (cli *Context) RequireCommand(v protocol.Verb, oneShot bool) error {
	if d, ok := dialect.Find(cli.Flags.Dialect); ok && cli.Flags.Server != "" {
		return d.Unsupported(v, oneShot)
	}
	return nil
}

// Peer returns what is known of the server, for hints.
func (cli *Context) Peer() exit.Peer {
	if cli.LastPeer != nil {
		return cli.LastPeer()
	}
	return exit.Peer{Dialect: cli.Flags.Dialect}
}

// UserName returns the name of the user for the server: --as, else the name on this machine.
func (cli *Context) UserName() string {
	if cli.Flags.As != "" {
		return cli.Flags.As
	}
	for _, name := range []string{"USER", "LOGNAME", "USERNAME"} {
		if v := cli.Env(name); v != "" {
			return v
		}
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return fmt.Sprintf("uid %d", os.Getuid())
}
