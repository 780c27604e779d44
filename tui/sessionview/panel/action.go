package panel

import (
	"maps"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/request"
	"agentctl/tui/ui"
)

// Result is the effect of a key press or an action on the view. It is the intent of overlays that
// have such an effect.
type Result struct {
	Cmd     tea.Cmd
	Leave   bool              // the message box takes the focus
	Focus   bool              // the transcript takes the focus
	ToQueue bool              // the queue takes the focus, if it has messages
	Push    ui.Overlay        // to show, or nil
	Edit    *protocol.Message // queued message to edit in the message box, or nil
	Text    string            // to add to the message
	Intent  ui.Intent         // such as [RunIntent], or nil
}

// RunIntent asks the view to carry out an action with the text after its word, or without text.
type RunIntent struct {
	Action keymap.Action
	Text   string
}

// CompareIntent asks the program to compare what the sessions on the screen changed. Commands sends the
// requests of the comparison.
type CompareIntent struct{ Commands *request.Sender }

// OpenIntent asks the program to open another session of the same server.
type OpenIntent struct{ Session string }

// Action carries out an action that does not depend on the focus.
type Action struct {
	Run  func(text string) Result // text follows the word of a command; "" for a key
	Text bool                     // it takes such a text
}

// Actions are the actions that a part carries out.
type Actions map[keymap.Action]Action

// Run returns an action that takes no text and only starts a command.
func Run(f func() tea.Cmd) Action {
	return Action{Run: func(string) Result { return Result{Cmd: f()} }}
}

// Do returns an action that takes no text and changes only its part.
func Do(f func()) Action {
	return Action{Run: func(string) Result { f(); return Result{} }}
}

// Join returns the actions of all parts.
func Join(parts ...Actions) Actions {
	all := Actions{}
	for _, actions := range parts {
		maps.Copy(all, actions)
	}
	return all
}
