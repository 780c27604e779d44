package input

import (
	"slices"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/tui/keymap"
	"agentctl/tui/palette"
	"agentctl/tui/remote"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/ui"
)

// commandRows is the maximum number of commands shown beside a message.
const commandRows = 8

// commandList lists the commands while the message is a single word that begins with a slash. The
// text stays in the message box: the list takes no letter.
type commandList struct {
	*ui.Picker[palette.Command]
	found     []palette.Command // that match word
	word      string
	dismissed string // the word whose list the user closed
}

func newCommandList(s *ui.Styles) *commandList {
	c := new(commandList)
	list := palette.NewList(s, func(string) []palette.Command { return c.found })
	list.Title = func(_, rows, _ int) string {
		hint := keymap.Separator + s.Keys.Hint(keymap.Choose, "runs", keymap.Complete, "completes") +
			keymap.Separator + "↑↓" + keymap.Separator + s.Keys.Hint(keymap.Back, "closes")
		return format.Count(rows, "command") + s.Dim.Render(hint)
	}
	list.Choose = func(command palette.Command) ui.Response { return ui.Response{Intent: command} }
	list.Complete = func(command palette.Command) string { return command.Name + " " }
	list.Message, list.Docked = true, commandRows
	c.Picker = ui.NewPicker(s, list)
	return c
}

// find sets the commands to those that match a message. A new message selects the best match. It
// reports whether the list is shown.
func (c *commandList) find(commands func() []palette.Command, message string) bool {
	isWord := strings.HasPrefix(message, "/") && !strings.ContainsFunc(message, unicode.IsSpace)
	if !isWord || message == c.dismissed {
		return false
	}
	all := commands()
	if strings.HasPrefix(message, "//") {
		one := func(c palette.Command) bool { return !strings.HasPrefix(c.Name, "//") }
		all = slices.DeleteFunc(all, one)
	}
	if c.word != message {
		c.word = message
		c.Reset()
	}
	c.found = palette.Rank(all, message, false)
	return len(c.found) > 0
}

// view returns a title and the commands around the selected one.
func (c *commandList) view(width int) []string {
	lines, _ := c.View(width, commandRows+1)
	return lines
}

// listsCommands finds the commands that match the message. It reports whether they are shown.
func (in *Input) listsCommands() bool {
	return in.takesCompletion() && in.commandList.find(in.AllCommands, in.composer.Text())
}

// takesCompletion reports whether lists beside the message complete its text.
func (in *Input) takesCompletion() bool {
	return in.focused && in.composer.Editing == "" && !in.composer.Shell && in.Overlays.Top() == nil
}

// HandleList passes a key or the wheel to the list beside the message, if there is one. It reports
// whether the list took it.
func (in *Input) HandleList(msg tea.Msg) (result panel.Result, handled bool) {
	if !in.listsCommands() {
		return panel.Result{}, in.updateFileCompletion(msg)
	}
	r, handled := in.commandList.Handle(msg)
	if r.Close {
		in.commandList.dismissed = in.composer.Text()
	}
	switch i := r.Intent.(type) {
	case ui.CompleteIntent:
		in.composer.SetText(i.Text)
	case palette.Command:
		return in.chooseListed(i)
	}
	return panel.Result{}, handled
}

// chooseListed runs the selected command, unless the message is a word of agentctl that names
// another one.
func (in *Input) chooseListed(c palette.Command) (result panel.Result, handled bool) {
	word := in.composer.Value()
	own := remote.IsOwnWord(word) && !strings.HasPrefix(word, "//")
	switch {
	case own && !strings.EqualFold(c.Name, word):
		return panel.Result{}, false
	case c.Action == "" && c.Hint == "", strings.EqualFold(c.Name, word) && c.Action == "":
		in.composer.SetText(c.Name)
		return panel.Result{}, false // it is sent
	case c.Action == "":
		in.composer.SetText(c.Name + " ")
		return panel.Result{}, true
	}
	in.composer.Clear()
	return panel.Result{Intent: c}, true
}
