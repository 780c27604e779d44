package input

import (
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/palette"
	"agentctl/tui/remote"
	"agentctl/tui/sessionview/panel"
)

// AllCommands returns the commands of the session view and of the agent.
func (in *Input) AllCommands() []palette.Command {
	options := in.Replica.State.Options
	screen := palette.OfScreen(in.Styles.Keys, keymap.OnSession, keymap.Global)
	screen = slices.DeleteFunc(screen, func(c palette.Command) bool {
		return !in.Sessions && LeavesSession(c.Action) || !agentCan(options, c.Action)
	})
	return slices.Concat(screen, palette.OfAgent(options))
}

// agentCan reports whether an agent has the feature that an action needs, if any.
func agentCan(options *protocol.Options, a keymap.Action) bool {
	switch a {
	case keymap.UndoTurn, keymap.RepeatTurn:
		return options.Has(protocol.FeatureUndo)
	case keymap.ForkSession:
		return options.Has(protocol.FeatureFork)
	}
	return true
}

// LeavesSession reports whether the program carries an action out, if it shows several sessions.
func LeavesSession(a keymap.Action) bool {
	switch a {
	case keymap.ShowSessions, keymap.NextPending, keymap.JumpSession, keymap.NewSession, keymap.CompareAgents:
		return true
	}
	return a.OnPanes()
}

// RunCommand sends a command of the agent, or puts it before the message if it has arguments.
func (in *Input) RunCommand(c palette.Command) panel.Result {
	switch {
	case in.composer.Editing != "":
		in.Commands.Status.Text = editingText
		return panel.Result{}
	case c.Hint == "":
		text, _ := remote.SlashMessage(c.Name)
		return in.send(text, "", nil)
	}
	in.composer.SetText(c.Name + " " + in.composer.Text())
	return panel.Result{Leave: true}
}

// parseWord returns the action of a message that begins with a word of agentctl. refusal says why the
// message has no action; it is "" otherwise.
func parseWord(word, message string, takesText func(keymap.Action) bool) (run panel.RunIntent, refusal string) {
	c, ok := keymap.CommandNamed(strings.ToLower(word))
	_, text, _ := strings.Cut(message, " ")
	text = strings.TrimSpace(text)
	switch {
	case !ok || c.Screens&keymap.OnSession == 0:
		return run, "/" + word + " is a word of agentctl: the help shows its key; //" + word + " goes to the agent"
	case text != "" && !takesText(c.Action):
		return run, "/" + c.Name + " takes no text; //" + word + " goes to the agent"
	}
	return panel.RunIntent{Action: c.Action, Text: text}, ""
}
