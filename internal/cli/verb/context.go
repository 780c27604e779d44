package verb

import (
	"io"
	"os"

	"agentctl/internal/config"
	"agentctl/internal/exit"
	"agentctl/internal/localserver"
	"agentctl/internal/output"
)

// A Context is one run of the program: the dependencies of every verb, and the global flags.
type Context struct {
	Stdin io.Reader
	Out   output.Printer // in the form that the flags choose
	Env   func(string) string

	Build Build

	Flags    Flags
	User     config.User
	UserErr  error // returned by the first step that needs User
	Selected Selection
	Call     Invocation
	Dir      localserver.Dir  // of a verb with a Place; else see DataDir
	LastPeer func() exit.Peer // what the last connection knows of its server; nil: none was opened
}

// Process returns the context of this process.
func Process(b Build) *Context {
	return &Context{
		Stdin: os.Stdin, Out: output.Printer{Stdout: os.Stdout, Stderr: os.Stderr}, Env: os.Getenv, Build: b,
	}
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

// Peer returns what is known of the server, for hints.
func (cli *Context) Peer() exit.Peer {
	if cli.LastPeer != nil {
		return cli.LastPeer()
	}
	return exit.Peer{Dialect: cli.Flags.Dialect}
}
