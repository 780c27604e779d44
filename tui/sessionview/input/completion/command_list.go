package completion

import (
	"slices"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/keymap"
	"agentctl/tui/palette"
	"agentctl/tui/remote"
	"agentctl/tui/ui"
)

// commandRows is the maximum number of commands shown beside a message.
const commandRows = 8

// commandList lists the commands while the message is a single word that begins with a slash. The
// text stays in the message: the list takes no letter.
type commandList struct {
	*ui.Picker[palette.Command]
	all       func() []palette.Command
	found     []palette.Command // that match message
	message   string            // of the last search
	dismissed string            // the message whose list the user closed
}

func newCommandList(config *Config) *commandList {
	c, s := &commandList{all: config.Commands}, config.Styles
	list := palette.NewList(s, func(string) []palette.Command { return c.found })
	title := list.Title
	list.Title = func(at, rows, width int) string {
		return title(at, rows, width) + s.Dim.Render(keymap.Separator+palette.Hint(s))
	}
	list.Choose = func(command palette.Command) ui.Response { return ui.Response{Intent: command} }
	list.Complete = func(command palette.Command) string { return command.Name + " " }
	list.Message, list.Docked = true, commandRows
	c.Picker = ui.NewPicker(s, list)
	return c
}

// find sets the commands to those that match a message. A new message selects the best match. It
// reports whether the list is shown.
func (c *commandList) find(message string) bool {
	isWord := strings.HasPrefix(message, "/") && !strings.ContainsFunc(message, unicode.IsSpace)
	if !isWord || message == c.dismissed {
		return false
	}
	all := c.all()
	if strings.HasPrefix(message, "//") {
		one := func(c palette.Command) bool { return !strings.HasPrefix(c.Name, "//") }
		all = slices.DeleteFunc(all, one)
	}
	if c.message != message {
		c.message = message
		c.Reset()
	}
	c.found = palette.Rank(all, message, false)
	return len(c.found) > 0
}

// handle handles a key or the wheel while the list is shown.
func (c *commandList) handle(msg tea.Msg) (r Result, handled bool) {
	response, handled := c.Handle(msg)
	if response.Close {
		c.dismissed = c.message
	}
	switch i := response.Intent.(type) {
	case ui.CompleteIntent:
		r.Message = i.Text
	case palette.Command:
		return choose(i, c.message)
	}
	return r, handled
}

// choose runs the selected command, unless the message is a word of agentctl that names another one.
// The key that chose a command of the agent without arguments is not handled: it sends the message.
func choose(c palette.Command, message string) (r Result, handled bool) {
	own := remote.IsOwnWord(message) && !strings.HasPrefix(message, "//")
	named := strings.EqualFold(c.Name, message)
	switch {
	case own && !named:
		return Result{}, false
	case c.Action == "" && (c.Hint == "" || named):
		return Result{Message: c.Name}, false
	case c.Action == "":
		return Result{Message: c.Name + " "}, true
	}
	return Result{Run: &c}, true
}

// view returns a title and the commands around the selected one.
func (c *commandList) view(width int) []string {
	lines, _ := c.View(width, commandRows+1)
	return lines
}
