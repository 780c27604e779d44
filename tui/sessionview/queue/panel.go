package queue

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/sessionview/panel"
)

// Config holds the dependencies of a panel.
type Config struct {
	panel.Base
	NewID   func() string     // returns a new message ID
	Editing func() string     // returns the ID of the message that is edited here, or ""
	Restore func(text string) // inserts a text that could not be sent into the composer
}

// Panel shows the queued messages, and after them the scheduled ones. It edits, moves and removes
// them.
type Panel struct {
	Config
	focused  bool
	selected string            // ID of the selected message
	index    int               // its last index, used once it left the queue
	pending  map[string]string // message ID → action without an answer yet
	removed  removal

	disconnects map[protocol.Actor]time.Time // when an actor disconnected during the edit of a message
	holdConn    string                       // connection of the hold on the message edited here
}

// New returns a panel without the focus.
func New(c Config) *Panel {
	return &Panel{Config: c, pending: map[string]string{}, disconnects: map[protocol.Actor]time.Time{}}
}

// Actions returns the actions on the queue that need no focus.
func (q *Panel) Actions() panel.Actions {
	return panel.Actions{
		keymap.HoldQueue:  panel.Run(q.Hold),
		keymap.ClearQueue: {Run: func(string) panel.Result { return q.Clear() }},
	}
}

// SetFocus sets whether the panel has the focus.
func (q *Panel) SetFocus(focused bool) {
	q.focused = focused
	if focused {
		q.Select(q.Selected())
	}
}

// Visible reports whether the panel shows anything.
func (q *Panel) Visible() bool {
	s := q.Replica.State
	return len(s.Queue) > 0 || len(s.Scheduled) > 0 || s.BlockingHold() != nil
}

// Selected returns the index of the selected message, or of the one that took its place. It
// returns -1 if there is no message.
func (q *Panel) Selected() int {
	if i := indexOf(q.Replica.State, q.selected); i >= 0 {
		q.index = i
	}
	return min(q.index, len(waiting(q.Replica.State))-1)
}

// Select selects the message at index i, clamped to the messages.
func (q *Panel) Select(i int) {
	if all := waiting(q.Replica.State); len(all) > 0 {
		q.index = min(max(i, 0), len(all)-1)
		q.selected = all[q.index].MessageID
	}
}

// Press handles a key while the panel has the focus.
func (q *Panel) Press(key string) panel.Result {
	action := q.Styles.Keys.InList(keymap.Queue, key)
	switch action {
	case keymap.Back:
		return panel.Result{Leave: true}
	case keymap.HoldQueue:
		if q.Replica.State.BlockingHold() != nil {
			return panel.Result{Cmd: q.Release()}
		}
		return panel.Result{Cmd: q.Hold()}
	}
	at := q.Selected()
	if at < 0 {
		return panel.Result{}
	}
	all := waiting(q.Replica.State)
	message := all[at]
	switch action {
	case keymap.Up:
		q.Select(at - 1)
	case keymap.Down:
		q.Select(at + 1)
	case keymap.First:
		q.Select(0)
	case keymap.Last:
		q.Select(len(all) - 1)
	case keymap.PageUp:
		q.Select(at - queueRows)
	case keymap.PageDown:
		q.Select(at + queueRows)
	case keymap.QueueSendNow:
		if isScheduled(q.Replica.State, message.MessageID) {
			return q.sendScheduled(message)
		}
		return panel.Result{Cmd: q.sendNow(message)}
	case keymap.QueueSteer:
		return panel.Result{Cmd: q.steer(message)}
	case keymap.Edit, keymap.Choose:
		return panel.Result{Edit: &message}
	case keymap.Remove:
		q.Select(at) // then the next message takes its place
		return q.remove([]protocol.Message{message})
	case keymap.QueueMoveUp:
		return panel.Result{Cmd: q.move(message.MessageID, -1)}
	case keymap.QueueMoveDown:
		return panel.Result{Cmd: q.move(message.MessageID, 1)}
	}
	return panel.Result{}
}

// Hold holds the queue.
func (q *Panel) Hold() tea.Cmd { return q.Commands.Do(protocol.DoQueueHold, protocol.QueueHoldData{}) }

// Release releases the queue.
func (q *Panel) Release() tea.Cmd {
	return q.Commands.Do(protocol.DoQueueRelease, protocol.QueueReleaseData{})
}

// move moves a message within the queue. It does nothing at the end of the queue, or if the message is
// scheduled.
func (q *Panel) move(message string, by int) tea.Cmd {
	at := q.Replica.State.QueueIndex(message)
	if to := at + by; at < 0 || to < 0 || to >= len(q.Replica.State.Queue) {
		return nil
	}
	q.selected = message
	return q.Commands.Do(protocol.DoQueueMove, protocol.QueueMoveData{MessageID: message, Index: at + by})
}

// sendNow starts a queued message.
func (q *Panel) sendNow(message protocol.Message) tea.Cmd {
	id := message.MessageID
	if q.pending[id] != "" {
		return nil
	}
	q.pending[id] = "sending now"
	start := remote.StartNow(q.Replica.State, id)
	return q.Commands.Run(func(ctx context.Context) error {
		return start(ctx, q.Commands.Session)
	}, q.Commands.Await(func(err error) tea.Cmd {
		delete(q.pending, id)
		return q.Commands.Report(err)
	}))
}

// steer delivers a queued message in the turn that runs.
func (q *Panel) steer(message protocol.Message) tea.Cmd {
	q.selected = message.MessageID
	result := new(protocol.SendResult)
	data := protocol.QueueSteerData{MessageID: message.MessageID}
	return q.Commands.Send(protocol.DoQueueSteer, data, result, func(err error) tea.Cmd {
		if err != nil {
			return q.Commands.Report(err)
		}
		if result.Status != protocol.SendStarted {
			q.Commands.Status.Text = describe.Queued(result)
		}
		return nil
	})
}

// Apply records who disconnected during an edit, and reports the removal of the selected message by
// another user.
func (q *Panel) Apply(e *protocol.Event) {
	switch e.Type {
	case protocol.ClientDetached:
		q.recordDisconnect(remote.DecodeData[protocol.Client](e.Data).By)
	case protocol.QueueRemoved:
		if !q.focused || e.By == nil || *e.By == q.Replica.Conn.By {
			return
		}
		d := remote.DecodeData[protocol.QueueRemovedData](e.Data)
		if d.MessageID == q.selected && d.Reason != protocol.RemovedStarted {
			q.Commands.Status.Text = remote.ActorName(e.By) + " removed the selected message"
		}
	}
}

// Len returns the number of queued and scheduled messages.
func (q *Panel) Len() int { return len(waiting(q.Replica.State)) }
