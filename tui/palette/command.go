package palette

import (
	"strings"

	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/ui"
)

// Command is a row of the palette.
type Command struct {
	Name   string        // as it is typed, with its slash or slashes
	About  string        // one line
	Hint   string        // the arguments of an agent's command
	Key    string        // that runs the action on this screen; "": none
	Action keymap.Action // "": a command of the agent
}

// OfScreen returns the commands of a screen. scope holds the screen's own keys.
func OfScreen(keys *keymap.Map, screen keymap.Screens, scope keymap.Scope) []Command {
	var out []Command
	for _, c := range keys.Commands() {
		if c.Screens&screen == 0 {
			continue
		}
		row := Command{Name: "/" + c.Name, Action: c.Action}
		d := keymap.DefinitionOf(c.Action)
		row.About = d.About
		switch {
		case c.Action == keymap.Quit:
			row.Key = "ctrl+c twice"
		case scope == keymap.Sessions && c.Action == keymap.RenameSession:
			row.Key = keys.Key(keymap.Edit)
		case d.Scope == keymap.Global || d.Scope == keymap.Panes || d.Scope == keymap.Lists || d.Scope == scope:
			row.Key = keys.Key(c.Action)
		}
		out = append(out, row)
	}
	return out
}

// OfAgent returns the commands of an agent. Their texts are untrusted.
func OfAgent(options *protocol.Options) []Command {
	if options == nil {
		return nil
	}
	clean := func(s string) string { return ui.Excerpt(s) }
	out := make([]Command, 0, len(options.Commands))
	for _, c := range options.Commands {
		if name := clean(c.Name); strings.Trim(name, "/ ") != "" {
			out = append(out, Command{Name: remote.SlashCommand(name), About: clean(c.About), Hint: clean(c.Hint)})
		}
	}
	return out
}
