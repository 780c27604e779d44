package tour

import (
	"slices"

	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
)

// A Step asks the user for one thing. Its texts name the keys of the actions as {0}, {1} and so on.
type Step struct {
	Actions []keymap.Action // to be triggered in this order
	Text    string
	Wait    string // shown until the step is ready

	ready func(*Screen) bool // nil: immediately
	done  func(*Screen) bool // nil: only the skip key ends the step
	cut   bool               // the connection breaks at the start
	list  bool               // the list of sessions does not need to be left
	leave bool               // the user leaves and returns
}

// Leaves reports whether the step asks the user to leave, with the keys that cannot be rebound.
func (s *Step) Leaves() bool { return s.leave }

// Ends reports whether the step is the end of the tour.
func (s *Step) Ends() bool { return s.done == nil && !s.leave }

// Screen is the observed state of the program.
type Screen struct {
	Session *protocol.State // on the screen; nil: the list of sessions
	Scope   keymap.Scope    // of the part with the focus
	Conn    remote.ConnState
}

// Steps is the tour.
var Steps = []Step{
	{
		Actions: []keymap.Action{keymap.FocusNext},
		Wait:    "An agent writes; a script replaces the model. Soon it asks before it runs a command.",
		Text:    "The agent asks before it runs a command, and waits for you. Press {0} to go to the request.",
		ready:   func(s *Screen) bool { return s.pending() },
		done:    inScope(keymap.Approval),
	},
	{
		Actions: []keymap.Action{keymap.FocusNext},
		Wait:    "No queued message: skip this step.",
		Text:    "Messages sent during a turn wait in the queue: edit, move, remove. Press {0} to go there.",
		ready:   func(s *Screen) bool { return s.Session != nil && len(s.Session.Queue) > 0 },
		done:    inScope(keymap.Queue),
	},
	{
		Actions: []keymap.Action{keymap.Edit},
		Text:    "Press {0} to edit the message. It waits while you edit.",
		done:    func(s *Screen) bool { return s.editing() },
	},
	{
		Actions: []keymap.Action{keymap.Send},
		Text:    "Change the text, then press {0} to save it.",
		done:    func(s *Screen) bool { return !s.editing() },
	},
	{
		Actions: []keymap.Action{keymap.FocusPrevious},
		Wait:    "No pending request: skip this step.",
		Text:    "Now decide. Keys decide only in the request. Press {0} to go there again.",
		ready:   func(s *Screen) bool { return s.pending() },
		done:    inScope(keymap.Approval),
	},
	{
		Actions: []keymap.Action{keymap.AllowAlways, keymap.Allow},
		Text: "A rule answers equal requests. Press {0} to see what it covers; {1} confirms. {1} alone allows " +
			"once.",
		done: func(s *Screen) bool { return s.Session != nil && !s.pending() },
	},
	{
		Actions: []keymap.Action{keymap.ShowRules},
		Text:    "The command runs. Press {0} for your rules.",
		done:    inScope(keymap.Lists),
	},
	{
		Actions: []keymap.Action{keymap.Back},
		Text:    "Here you revoke rules. Press {0} to go back.",
		done:    func(s *Screen) bool { return s.Scope != keymap.Lists },
	},
	{
		Actions: []keymap.Action{keymap.ShowSessions},
		Text:    "There is another session. Press {0} for all sessions.",
		done:    func(s *Screen) bool { return s.Session == nil },
	},
	{
		Actions: []keymap.Action{keymap.NextPending},
		Text:    "Sessions that need you come first. Press {0} to decide what waits, one after the other.",
		list:    true,
		done:    inScope(keymap.Approval),
	},
	{
		Actions: []keymap.Action{keymap.ViewWhole},
		Text:    "Press {0} to review the patch: all files, with comments on lines.",
		list:    true,
		done:    inScope(keymap.Review),
	},
	{
		Actions: []keymap.Action{keymap.Allow},
		Text:    "You saw all lines: press {0} to allow the patch.",
		list:    true,
		done:    inScope(keymap.Sessions),
	},
	{
		Actions: []keymap.Action{keymap.Choose},
		Text:    "Nothing else waits. Press {0} to open the session: its agent continues.",
		list:    true,
		done:    func(s *Screen) bool { return s.Session != nil },
	},
	{
		Actions: []keymap.Action{keymap.Reconnect},
		Wait:    "The tour cuts the connection …",
		Text:    "The connection is lost; the agent continues, and the screen catches up. Press {0} to connect now.",
		ready:   func(s *Screen) bool { return s.Conn == remote.Reconnecting },
		done:    func(s *Screen) bool { return s.Conn == remote.Connected },
		cut:     true,
		list:    true,
	},
	{
		Text: "Leaving stops no agent. Press ctrl+c twice to leave; enter brings you back.",

		list:  true,
		leave: true,
	},
	{
		Text: "Nothing is lost. End of the tour: look around, or press ctrl+c twice for the agents of this machine.",
		list: true,
	},
}

// inScope returns a condition: the part with the focus is in the scope.
func inScope(scope keymap.Scope) func(*Screen) bool {
	return func(s *Screen) bool { return s.Scope == scope }
}

// pending reports whether a request is pending in the session on the screen.
func (s *Screen) pending() bool { return s.Session != nil && len(s.Session.Approvals) > 0 }

// editing reports whether a queued message is being edited.
func (s *Screen) editing() bool {
	return s.Session != nil && slices.ContainsFunc(s.Session.Holds, func(h protocol.Hold) bool {
		return h.Reason == protocol.HoldEdit
	})
}
