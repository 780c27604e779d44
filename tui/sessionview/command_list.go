package sessionview

import (
	"slices"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/tui/keymap"
	"agentctl/tui/palette"
	"agentctl/tui/remote"
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
func (v *View) listsCommands() bool {
	return v.takesCompletion() && v.panels.commandList.find(v.allCommands, v.composer.Text())
}

// takesCompletion reports whether lists beside the message complete its text.
func (v *View) takesCompletion() bool {
	return v.focus == onComposer && v.composer.Editing == "" && !v.composer.Shell && v.overlays.Top() == nil
}

// updateLists passes a key or the wheel to the list beside the message, if there is one.
func (v *View) updateLists(msg tea.Msg) (cmd tea.Cmd, handled bool) {
	if !v.listsCommands() {
		return nil, v.updateFileCompletion(msg)
	}
	list := v.panels.commandList
	r, handled := list.Handle(msg)
	if r.Close {
		list.dismissed = v.composer.Text()
	}
	switch i := r.Intent.(type) {
	case ui.CompleteIntent:
		v.composer.SetText(i.Text)
	case palette.Command:
		return v.chooseListed(i)
	}
	return nil, handled
}

// chooseListed runs the selected command, unless the message is a word of agentctl that names
// another one.
func (v *View) chooseListed(c palette.Command) (cmd tea.Cmd, handled bool) {
	word := v.composer.Value()
	own := remote.IsOwnWord(word) && !strings.HasPrefix(word, "//")
	switch {
	case own && !strings.EqualFold(c.Name, word):
		return nil, false
	case c.Action == "" && c.Hint == "", strings.EqualFold(c.Name, word) && c.Action == "":
		v.composer.SetText(c.Name)
		return nil, false // it is sent
	case c.Action == "":
		v.composer.SetText(c.Name + " ")
		return nil, true
	}
	v.composer.Clear()
	return v.runCommand(c), true
}

// commandLines returns the lines of the list of commands, or nil.
func (v *View) commandLines(width int) []string {
	if !v.listsCommands() {
		return nil
	}
	return v.panels.commandList.view(width)
}
