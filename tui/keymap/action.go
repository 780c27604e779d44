package keymap

import (
	"slices"
	"strings"
	"sync"
)

// Action is a user action. Its value is its name in the user's configuration.
type Action string

// OnPanes reports whether an action is one of sessions side by side.
func (a Action) OnPanes() bool { return strings.HasPrefix(string(a), "pane.") }

// Splits reports whether an action shows a further session.
func (a Action) Splits() bool { return a == SplitRight || a == SplitBelow }

// Definition is an action with its scope, default keys, text on the help screen and command.
type Definition struct {
	Scope Scope
	row
}

// A row is the definition of an action in the table of its scope.
type row struct {
	Action  Action
	Keys    keys
	About   string
	command *word // nil: none
}

// A word is the name of a command.
type word struct {
	name  string
	on    Screens
	place int // in the palette, the first lowest
}

type keys []string

// Definitions returns all actions in the order of the help screen. Lookup tries the focused scope
// first, then Lists, then Global. The list is made when it is first needed.
var Definitions = sync.OnceValue(func() (out []Definition) {
	for _, t := range []struct {
		scope Scope
		rows  []row
	}{
		{Global, global},
		{Panes, panes},
		{Composer, composer},
		{Player, player},
		{Lists, lists},
		{Approval, approval},
		{Queue, queue},
		{Plan, plan},
		{Transcript, transcript},
		{CopyMode, copyMode},
		{Sessions, sessions},
		{Context, context},
		{Review, review},
		{Pager, pager},
		{Tour, tour},
	} {
		for _, r := range t.rows {
			out = append(out, Definition{t.scope, r})
		}
	}
	return out
})

// DefinitionOf returns the definition of an action.
func DefinitionOf(a Action) Definition {
	i := slices.IndexFunc(Definitions(), func(d Definition) bool { return d.Action == a })
	if i < 0 {
		return Definition{}
	}
	return Definitions()[i]
}
