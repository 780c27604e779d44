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

// Names lists all retired names. Rows are never removed: files of users outlive versions.
var Names = []Name{
	{
		Verb, "top", "2026-11",
		"agentctl watch --columns name,status,turn,rate,lag; agentctl ls --columns name,status,turn,lag prints them once",
	},
	{Action, "transcript.point", "2026-11", "nothing; say which item you mean in a message"},
	{Action, "go-to-pointer", "2026-11", "nothing; users no longer point at items"},
	{Action, "wire", "2026-11", "agentctl attach --wire FILE"},
	{Action, "wire.find", "2026-11", "agentctl attach --wire FILE, and jq or a pager on the file"},
	{Action, "wire.direction", "2026-11", "agentctl attach --wire FILE, and jq or a pager on the file"},
	{Action, "wire.type", "2026-11", "agentctl attach --wire FILE, and jq or a pager on the file"},
	{Action, "wire.pause", "2026-11", "agentctl attach --wire FILE"},
	{Action, "wire.copy", "2026-11", "agentctl attach --wire FILE"},
	{Action, "wire.save", "2026-11", "agentctl attach --wire FILE"},
	{Action, "wire.page-up", "2026-11", "agentctl attach --wire FILE"},
	{Action, "wire.page-down", "2026-11", "agentctl attach --wire FILE"},
	{Action, "wire.leave", "2026-11", "agentctl attach --wire FILE"},
	{Action, "sessions-column", "2026-11", "F2 lists the sessions, alt+v and alt+m show others side by side"},
	{Action, "previous-session", "2026-11", "alt+g jumps to a session by name, F8 to the next one that needs you"},
	{Action, "next-session", "2026-11", "alt+g jumps to a session by name, F8 to the next one that needs you"},
	{Action, "outline.jump", "2026-11", "list.choose"},
	{Action, "outline.up", "2026-11", "list.up"},
	{Action, "outline.down", "2026-11", "list.down"},
	{Action, "outline.page-up", "2026-11", "list.page-up"},
	{Action, "outline.page-down", "2026-11", "list.page-down"},
	{Action, "outline.close", "2026-11", "list.back, or the key of outline"},
	{Setting, "composer", "2026-11", "ctrl+g opens a message or text field in $VISUAL or $EDITOR, such as vi; text fields have the keys of emacs"},
}
