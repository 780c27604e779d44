package retired

import (
	"fmt"
	"slices"
)

// Kind is where users wrote a name.
type Kind string

// The kinds of names.
const (
	Setting       Kind = "setting"        // in config.json, with dots below an object: worktree.path
	ServerSetting Kind = "server setting" // in server.json, likewise
	Action        Kind = "action"         // below keys in config.json
	Verb          Kind = "verb"           // a command of agentctl
)

// A Name is a name without a meaning.
type Name struct {
	Kind    Kind
	Name    string
	Since   string // year and month of the version without it
	Instead string // what takes its place, or why nothing does; short, without a full stop
}

// String returns one line for users.
func (n Name) String() string {
	return fmt.Sprintf("%s %q was removed in %s: %s", n.Kind, n.Name, n.Since, n.Instead)
}

// Find returns the retired name of the kind. ok is false if no version knew the name, or this one
// still does.
func (k Kind) Find(name string) (n Name, ok bool) {
	i := slices.IndexFunc(Names, func(n Name) bool { return n.Kind == k && n.Name == name })
	if i < 0 {
		return Name{}, false
	}
	return Names[i], true
}
