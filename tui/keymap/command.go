package keymap

import (
	"slices"
	"sync"
)

// Screens is a set of screens.
type Screens uint8

// The screens that have a palette.
const (
	OnSession Screens = 1 << iota
	OnDashboard
	OnBoth = OnSession | OnDashboard
)

// Command is a word that runs an action of a screen. The palette lists the commands; in a message
// box a command follows a slash. An agent's command of the same name is typed with two slashes.
type Command struct {
	Name    string
	Action  Action
	Screens Screens
}

// Commands returns all commands in the order of the palette.
var Commands = sync.OnceValue(func() []Command { return commandsOf(Definitions()) })

// Commands returns the commands of the map's actions in the order of the palette.
func (m *Map) Commands() []Command { return commandsOf(m.rows) }

func commandsOf(rows []Definition) []Command {
	rows = slices.DeleteFunc(slices.Clone(rows), func(d Definition) bool { return d.command == nil })
	slices.SortStableFunc(rows, func(a, b Definition) int { return a.command.place - b.command.place })
	out := make([]Command, len(rows))
	for i, d := range rows {
		out[i] = Command{d.command.name, d.Action, d.command.on}
	}
	return out
}

// CommandNamed returns the command with a name.
func CommandNamed(name string) (Command, bool) {
	i := slices.IndexFunc(Commands(), func(c Command) bool { return c.Name == name })
	if i < 0 {
		return Command{}, false
	}
	return Commands()[i], true
}
