package notify

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/ui"
)

// Notifier notifies a user of sessions that begin to wait for an approval and of ended turns,
// unless the session is in view: it is on the screen of a terminal that has not lost the focus. A
// terminal without focus reports never loses it. The Notifier reports nothing twice, and nothing
// that a session held when first seen. The requests of a sub-agent are reported as its root's, its
// turns are not reported: they are calls of the root.
type Notifier struct {
	terminal  Notifications
	silent    bool
	only      Only
	unfocused bool     // the terminal has lost the focus
	shown     []string // the sessions on the screen
	seen      map[string]activity
}

// activity is the last known state of a session.
type activity struct {
	runningTurn string // id of the running turn
	turns       int    // number of turns that had ended, as far as known
	request     string // when the oldest pending request was asked, "" without one
}

// Only restricts notifications. Without states, all states are notified; without labels, all sessions.
type Only struct {
	States []State
	Labels []string // KEY or KEY=VALUE; a session needs one of them
}

// State is what a notification is about.
type State string

// The states.
const (
	Waiting  State = "waiting"  // a request is pending
	Failed   State = "failed"   // a turn failed
	Finished State = "finished" // a turn ended otherwise
)

// States lists the states.
func States() []State { return []State{Waiting, Failed, Finished} }

// allows reports whether a state of a session with labels is to be reported.
func (o *Only) allows(state State, labels map[string]string) bool {
	if len(o.States) > 0 && !slices.Contains(o.States, state) {
		return false
	}
	return len(o.Labels) == 0 || slices.ContainsFunc(o.Labels, func(l string) bool {
		key, want, hasValue := strings.Cut(l, "=")
		value, ok := labels[key]
		return ok && (!hasValue || value == want)
	})
}

// endState returns the state of a session whose turn ended with a reason.
func endState(r protocol.Reason) State {
	if end := (protocol.TurnEndedData{Reason: r}); r != "" && end.Failed() {
		return Failed
	}
	return Finished
}

// Restrict sets which notifications are made.
func (n *Notifier) Restrict(only Only) { n.only = only }

// NewNotifier returns a notifier. A silent one never notifies.
func NewNotifier(t Notifications, silent bool) *Notifier {
	return &Notifier{terminal: t, silent: silent, seen: map[string]activity{}}
}

// Update handles the focus reports of the terminal.
func (n *Notifier) Update(msg tea.Msg) {
	switch msg.(type) {
	case tea.FocusMsg:
		n.unfocused = false
	case tea.BlurMsg:
		n.unfocused = true
	}
}

// Show sets the sessions on the screen.
func (n *Notifier) Show(sessions ...string) { n.shown = sessions }

// Follow notifies of changes in the state of a session that has caught up. Only this session is on the
// screen.
func (n *Notifier) Follow(s *protocol.State) tea.Cmd {
	n.shown = []string{s.Session}
	summary := protocol.Summary{
		Session: s.Session, Name: s.Name, Title: s.Title, Status: s.Status(), Approvals: len(s.Approvals), Attributes: s.Attributes,
	}
	summary.Turns = s.Turns
	if s.Turn != nil {
		summary.Turn = s.Turn.Turn
	}
	if s.Last != nil {
		summary.Reason = s.Last.Reason
	}
	if len(s.Approvals) > 0 {
		r := &s.Approvals[0]
		summary.Asked, summary.Doing = &r.Asked, cmp.Or(r.Title, r.Command, r.Kind)
	}
	return n.FollowSummary(&summary, "")
}

// FollowSummary notifies of changes in a session that is known only by summaries. server is the
// name of its server if there are several, else "".
func (n *Notifier) FollowSummary(s *protocol.Summary, server string) tea.Cmd {
	if s.Deleted {
		delete(n.seen, s.Session)
		return nil
	}
	current := activity{runningTurn: s.Turn, turns: s.Turns}
	if s.Status == protocol.Waiting && s.Asked != nil {
		current.request = s.Asked.String()
	}
	previous, known := n.seen[s.Session]
	ended := previous.runningTurn != "" && previous.runningTurn != s.Turn || s.Turns > previous.turns
	event, state := "", endState(s.Reason)
	switch {
	case current.request != "" && current.request != previous.request:
		event, state = format.Count(s.Approvals, "approval"), Waiting
		if s.Approvals == 1 && s.Doing != "" {
			event = "approval: " + s.Doing
		}
	case ended && s.Turn == "":
		event = "turn " + cmp.Or(string(s.Reason), "ended")
	case ended:
		event, state = "turn ended, the next one runs", Finished
	}
	n.seen[s.Session] = current
	_, followed := n.seen[s.Parent]
	if !known || s.SubAgent && (followed || state != Waiting) || !n.only.allows(state, s.Labels) {
		return nil
	}
	name := cmp.Or(s.Name, s.Title, ui.ShortID(s.Session))
	if server != "" {
		name = server + "/" + name
	}
	return n.notify(name, event, !n.unfocused && slices.Contains(n.shown, s.Session))
}

// notify returns a command that notifies of an event of the named session. It returns nil if the
// event is "", the session is in view, or the user must not be notified.
func (n *Notifier) notify(name, event string, inView bool) tea.Cmd {
	if n.silent || inView || event == "" {
		return nil
	}
	sequence := n.terminal.sequence(name + ": " + event)
	if sequence == "" {
		return nil
	}
	return tea.Raw(sequence)
}

// Progress returns the progress bar of a session, or nil if it is idle or the terminal shows none.
// plan is the running plan, which must have tasks, or nil.
func (n *Notifier) Progress(s *protocol.State, plan *protocol.Plan, conn remote.ConnState) *tea.ProgressBar {
	switch {
	case !n.terminal.progress || s.Turn == nil:
		return nil
	case conn == remote.Offline:
		return tea.NewProgressBar(tea.ProgressBarError, 100)
	case len(s.Approvals) > 0:
		return tea.NewProgressBar(tea.ProgressBarWarning, 100)
	case plan != nil && plan.Status == protocol.StatusRunning:
		completed := 0
		for i := range plan.Tasks {
			if plan.Tasks[i].Status == protocol.StatusCompleted {
				completed++
			}
		}
		return tea.NewProgressBar(tea.ProgressBarDefault, 100*completed/len(plan.Tasks))
	}
	return tea.NewProgressBar(tea.ProgressBarIndeterminate, 0)
}

// plainText returns text as one line without control characters.
func plainText(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, ui.Excerpt(s))
}
