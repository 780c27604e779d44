package verb

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A Group is a heading of the help, as the ID of cobra.
type Group string

// The groups of verbs.
const (
	GroupStart   Group = "start"
	GroupSession Group = "session"
	GroupSteer   Group = "steer"
	GroupRead    Group = "read"
	GroupServer  Group = "server"
)

// A place is the machine that a verb is about.
type place int

const (
	// anywhere is where the server is.
	anywhere place = iota
	// DataDirectory is for verbs that work on the data directory of this machine, by path.
	DataDirectory
	// ThisMachine is for verbs that work on the data directory where the server is to be: a user, a
	// unit or ssh runs them there. A default server does not stop them.
	ThisMachine
)

// A Verb is one verb of the command line: its text, what is known of it before it runs, and what it
// does. It is constant.
type Verb struct {
	// Use is the name of the verb and its arguments, as "rm SESSION MESSAGE…": […] may be missing, … repeats.
	Use     string
	Short   string
	Long    string
	Example string
	Most    int // arguments that it accepts; 0: as many as Use names

	Group Group   // "" for a verb below another
	Below []*Verb // verbs after its name

	// Reads: it only reads what a server has. It starts none: without a server there is nothing that
	// runs or waits, and a script that polls must not keep one alive.
	Reads bool
	Place place
	Sends protocol.Verb // it is of no use without this command; "": none, or it works with every server
	Waits bool          // it may wait for a turn, which a client of one connection cannot
	Needs []FlagFeature

	// Lacks returns why a dialect carries the verb at no server, in addition to Sends. Nil: no reason.
	Lacks func(*codec.Dialect) error
	// Unlisted reports whether help leaves the verb out although the dialect does not refuse it.
	Unlisted func(*codec.Dialect) bool

	Trial string // arguments with which it does something, for tests

	Complete func(*Context) cobra.CompletionFunc // completes the arguments; nil: as files
	Do       Action                              // nil: it prints its help
}

// Name returns the name of the verb: the first word of its Use.
func (v *Verb) Name() string {
	name, _, _ := strings.Cut(v.Use, " ")
	return name
}

// A FlagFeature is a feature of a dialect that a flag needs. A flag with values has them after a =.
type FlagFeature struct {
	Flag    string
	Feature codec.Feature
}

// Path returns the path of a command without the program's name.
func Path(cmd *cobra.Command) string {
	_, path, _ := strings.Cut(cmd.CommandPath(), " ")
	return path
}

// Find returns the verb with a path such as "queue edit", or nil.
func Find(verbs []*Verb, path string) *Verb {
	name, rest, below := strings.Cut(path, " ")
	i := slices.IndexFunc(verbs, func(v *Verb) bool { return v.Name() == name })
	switch {
	case i < 0:
		return nil
	case below:
		return Find(verbs[i].Below, rest)
	}
	return verbs[i]
}

// Unsupported returns an error if a dialect carries the verb at no server.
func (v *Verb) Unsupported(d *codec.Dialect) error {
	if v.Lacks != nil {
		if err := v.Lacks(d); err != nil {
			return err
		}
	}
	if v.Sends == "" {
		return nil
	}
	return d.Unsupported(v.Sends, !v.Waits)
}

// UnsupportedFlag returns an error if a dialect carries a flag, as in Needs, at no server. oneShot:
// for a client of one connection.
func (v *Verb) UnsupportedFlag(d *codec.Dialect, flag string, oneShot bool) error {
	for _, n := range v.Needs {
		if n.Flag == flag {
			return d.UnsupportedFeature(n.Feature, oneShot)
		}
	}
	return nil
}
