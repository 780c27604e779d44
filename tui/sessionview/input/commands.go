package input

import (
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/palette"
	"agentctl/tui/remote"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/ui"
)

// AllCommands returns the commands of the session view and of the agent.
func (in *Input) AllCommands() []palette.Command {
	screen := palette.OfScreen(in.Styles.Keys, keymap.OnSession, keymap.Global)
	screen = slices.DeleteFunc(screen, func(c palette.Command) bool {
		return !in.Sessions && LeavesSession(c.Action) || !in.agentCan(c.Action)
	})
	return slices.Concat(screen, palette.OfAgent(in.Replica.State.Options))
}

// agentCan reports whether the agent has the feature that an action needs, if any.
func (in *Input) agentCan(a keymap.Action) bool {
	switch a {
	case keymap.UndoTurn, keymap.RepeatTurn:
		return in.Replica.State.Options.Has(protocol.FeatureUndo)
	case keymap.ForkSession:
		return in.Replica.State.Options.Has(protocol.FeatureFork)
	}
	return true
}

// LeavesSession reports whether the program carries an action out, if it shows several sessions.
func LeavesSession(a keymap.Action) bool {
	switch a {
	case keymap.ShowSessions, keymap.NextPending, keymap.NewSession:
		return true
	}
	return a.OnPanes()
}

// RunCommand sends a command of the agent, or puts it before the message if it has arguments.
func (in *Input) RunCommand(c palette.Command) panel.Result {
	switch {
	case c.Hint == "" && in.composer.Editing == "":
		text, _ := remote.SlashMessage(c.Name)
		in.Transcript.ScrollToBottom()
		return panel.Result{Cmd: in.sendMessage(text, nil)}
	case in.composer.Editing != "":
		in.Commands.Status.Text = editingText
		return panel.Result{}
	}
	in.composer.SetText(c.Name + " " + in.composer.Text())
	return panel.Result{Leave: true}
}

// runWord runs a word of agentctl that was typed as a message.
func (in *Input) runWord(word string) panel.Result {
	c, ok := keymap.CommandNamed(strings.ToLower(word))
	if !ok || c.Screens&keymap.OnSession == 0 {
		in.Commands.Status.Text = "/" + word + " is a word of agentctl: the help shows its key; //" + word +
			" goes to the agent"
		return panel.Result{}
	}
	_, text, _ := strings.Cut(in.composer.Value(), " ")
	text = strings.TrimSpace(text)
	if text != "" && !in.TakesText(c.Action) {
		in.Commands.Status.Text = "/" + c.Name + " takes no text; //" + word + " goes to the agent"
		return panel.Result{}
	}
	in.composer.Clear()
	return panel.Result{Intent: panel.RunIntent{Action: c.Action, Text: text}}
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
func (in *Input) explainEditorCommand(text string) bool {
	c, ok := editorCommands[text]
	if !ok || in.pressed.explained == text {
		in.pressed.explained = ""
		return false
	}
	in.pressed.explained = text
	about := c.about
	if c.action != "" {
		about = in.Styles.Keys.Hint(c.action, c.about)
	}
	again := in.Styles.Keys.Hint(keymap.Send, "again sends "+text)
	in.Commands.Status.Text = about + ui.Prefixed(keymap.Separator, again)
	return true
}
