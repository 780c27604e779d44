package input

import (
	"agentctl/tui/keymap"
	"agentctl/tui/ui"
)

// otherCommands are commands of other programs that are typed by habit, with what does it here.
var otherCommands = map[string]struct {
	action keymap.Action
	about  string
}{
	":q": {"", "ctrl+c twice leaves"}, ":q!": {"", "ctrl+c twice leaves"}, ":qa": {"", "ctrl+c twice leaves"},
	":x": {"", "ctrl+c twice leaves"}, ":wq": {"", "all is saved; ctrl+c twice leaves"},
	":quit": {"", "ctrl+c twice leaves"}, ":w": {"", "all is saved as it happens"},
	":h": {keymap.Help, "shows the help"}, ":help": {keymap.Help, "shows the help"},
	":ls": {keymap.ShowSessions, "lists the sessions"}, ":e": {keymap.OpenEditor, "opens your editor"},
	"exit": {"", "ctrl+c twice leaves"}, "quit": {"", "ctrl+c twice leaves"},
}

// otherPrograms explains messages that are commands of other programs. The same message again is
// sent.
type otherPrograms struct{ explained string }

// explain returns the explanation of a message, or "" if it is sent.
func (o *otherPrograms) explain(keys *keymap.Map, text string) string {
	c, ok := otherCommands[text]
	if !ok || o.explained == text {
		o.explained = ""
		return ""
	}
	o.explained = text
	about := c.about
	if c.action != "" {
		about = keys.Hint(c.action, c.about)
	}
	return about + ui.Prefixed(keymap.Separator, keys.Hint(keymap.Send, "again sends "+text))
}
