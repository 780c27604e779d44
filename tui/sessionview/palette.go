package sessionview

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/palette"
	"agentctl/tui/remote"
	"agentctl/tui/sessionview/settings"
	"agentctl/tui/ui"
)

// allCommands returns the commands of this screen and of the agent.
func (v *View) allCommands() []palette.Command {
	screen := palette.OfScreen(v.Styles.Keys, keymap.OnSession, keymap.Global)
	screen = slices.DeleteFunc(screen, func(c palette.Command) bool {
		return !v.Sessions && leavesSession(c.Action) || !v.agentCan(c.Action)
	})
	return slices.Concat(screen, palette.OfAgent(v.replica.State.Options))
}

// agentCan reports whether the agent has the feature that an action needs, if any.
func (v *View) agentCan(a keymap.Action) bool {
	switch a {
	case keymap.UndoTurn, keymap.RepeatTurn:
		return v.replica.State.Options.Has(protocol.FeatureUndo)
	case keymap.ForkSession:
		return v.replica.State.Options.Has(protocol.FeatureFork)
	}
	return true
}

// leavesSession reports whether the program carries an action out, if it shows several sessions.
func leavesSession(a keymap.Action) bool {
	switch a {
	case keymap.ShowSessions, keymap.NextPending, keymap.NewSession:
		return true
	}
	return a.OnPanes()
}

// newPalette returns the palette, or nil if the overlay on top is one.
func (v *View) newPalette(top ui.Overlay) ui.Overlay {
	if _, isPalette := top.(*palette.Palette); isPalette {
		return nil
	}
	return palette.New(v.Styles, v.allCommands)
}

// actAnywhere carries out the actions that work in every overlay and every text field: the help,
// and those of the transcript while a field beside it has the focus.
func (v *View) actAnywhere(action keymap.Action, top ui.Overlay) bool {
	switch action {
	case keymap.PageUp, keymap.PageDown, keymap.ToggleLast:
		if action != keymap.ToggleLast && top != nil && top.Scope() == keymap.Lists {
			return false // the list has pages
		}
		_, isPalette := top.(*palette.Palette)
		typing := v.panels.decision.Typing()
		beside := !isPalette && (top == nil && typing || top != nil && !top.FullScreen())
		if beside {
			_, _ = v.act(action)
		}
		return beside
	case keymap.Help:
		if top == nil {
			v.showHelp()
		}
		return top == nil
	}
	return false
}

// runCommand runs a command of the palette. A command of the agent is sent, or put before the
// message if it has arguments.
func (v *View) runCommand(c palette.Command) tea.Cmd {
	v.canvas.Dirty = true
	v.View() // the action sees the screen without the palette
	v.canvas.Dirty = true
	switch {
	case c.Action != "":
		return v.runAction(c.Action)
	case c.Hint == "" && v.composer.Editing == "":
		text, _ := remote.SlashMessage(c.Name)
		v.transcript.ScrollToBottom()
		return v.sendMessage(text, nil)
	case v.composer.Editing != "":
		v.status.Text = "a queued message is edited"
		return nil
	}
	v.composer.SetText(c.Name + " " + v.composer.Text())
	v.setFocus(onComposer)
	return nil
}

// runWord runs a word of agentctl that was typed as a message.
func (v *View) runWord(word string) tea.Cmd {
	c, ok := keymap.CommandNamed(strings.ToLower(word))
	if !ok || c.Screens&keymap.OnSession == 0 {
		v.status.Text = "/" + word + " is a word of agentctl: the help shows its key; //" + word +
			" goes to the agent"
		return nil
	}
	_, rest, _ := strings.Cut(v.composer.Value(), " ")
	run, ok := v.withText(c.Action, strings.TrimSpace(rest))
	if !ok {
		v.status.Text = "/" + c.Name + " takes no text; //" + word + " goes to the agent"
		return nil
	}
	v.composer.Clear()
	return run()
}

// runAction runs the action of a command.
func (v *View) runAction(action keymap.Action) tea.Cmd {
	if v.Sessions && leavesSession(action) {
		v.intent = ui.ActionIntent{Action: action}
		return nil
	}
	switch action {
	case keymap.SetMode:
		return v.showSetting("mode")
	case keymap.SetModel:
		return v.showSetting("model")
	case keymap.Compact:
		cmd, _ := v.act(keymap.ShowContext)
		return cmd
	case keymap.UndoTurn, keymap.RepeatTurn, keymap.ForkSession:
		return v.takeBackTurn(action)
	case keymap.CopyLast:
		return v.transcript.CopyLastText()
	case keymap.HoldQueue:
		return v.panels.queue.Hold()
	case keymap.RenameSession:
		v.overlays.Push(settings.NewRename(v.Styles, v.replica, v.commands, v.overlays, ""))
	case keymap.Quit:
		return tea.Quit
	}
	cmd, _ := v.act(action)
	return cmd
}

// showSetting opens the menu of the values of one setting, or of all settings if the agent has no
// choices for it.
func (v *View) showSetting(id string) tea.Cmd {
	all := settings.New(v.Styles, v.replica, v.commands)
	v.overlays.Push(all.Menu())
	if values := all.Values(id); values != nil {
		v.overlays.Push(values)
		return nil
	}
	v.status.Text = "the agent has no setting " + id
	return nil
}

// editorCommands are commands of other programs that are typed by habit, with what does it here.
var editorCommands = map[string]struct {
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

// explainEditorCommand explains a message that is a command of another program, and reports whether
// it did. The same message again is sent.
func (v *View) explainEditorCommand(text string) bool {
	c, ok := editorCommands[text]
	if !ok || v.pressed.explained == text {
		v.pressed.explained = ""
		return false
	}
	v.pressed.explained = text
	about := c.about
	if c.action != "" {
		about = v.Styles.Keys.Hint(c.action, c.about)
	}
	v.status.Text = about + ui.Prefixed(keymap.Separator, v.Styles.Keys.Hint(keymap.Send, "again sends "+text))
	return true
}
