package queue

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// waiting returns the queued messages in their order, then the scheduled ones by their
// times. The caller must not change the list.
func waiting(s *protocol.State) []protocol.Message {
	if len(s.Scheduled) == 0 {
		return s.Queue
	}
	return slices.Concat(s.Queue, s.Scheduled)
}

// indexOf returns the index of a queued or scheduled message in waiting, or -1.
func indexOf(s *protocol.State, message string) int {
	return slices.IndexFunc(waiting(s), func(m protocol.Message) bool { return m.MessageID == message })
}

// isScheduled reports whether a message is not in the queue yet.
func isScheduled(s *protocol.State, message string) bool { return s.ScheduledIndex(message) >= 0 }

// Parts returns the parts of a queued or scheduled message. ok is false if it is not there.
func (q *Panel) Parts(message string) (parts []protocol.Part, ok bool) {
	i := indexOf(q.Replica.State, message)
	if i < 0 {
		return nil, false
	}
	return waiting(q.Replica.State)[i].Parts, true
}

// sendScheduled sends a scheduled message ahead of the queue instead of at its time. Under another
// name it would not be the same message, so it asks before it sends the message of another user.
func (q *Panel) sendScheduled(m protocol.Message) panel.Result {
	if m.By != nil && *m.By == q.Replica.Conn.By {
		return panel.Result{Cmd: q.replaceScheduled(m)}
	}
	by := transcript.CleanLine(remote.ActorName(m.By))
	title := "send the message of " + by + " now, in your name?"
	return panel.Result{Push: ui.NewQuestion(q.Styles, title, ui.Choice{Label: "Send", Run: func() tea.Cmd {
		return q.replaceScheduled(m)
	}})}
}

// replaceScheduled removes a scheduled message and sends it. If it entered the queue in between, it
// is started from there. A text that cannot be sent returns to the composer.
func (q *Panel) replaceScheduled(m protocol.Message) tea.Cmd {
	id, removed := q.NewID(), new(protocol.QueueRemoveResult)
	start := remote.StartNow(q.Replica.State, m.MessageID)
	return q.Commands.Run(func(ctx context.Context) error {
		data := protocol.QueueRemoveData{MessageID: m.MessageID}
		if err := q.Commands.Session.Do(ctx, protocol.DoQueueRemove, data, removed); err != nil || !removed.Removed {
			return err
		}
		send := protocol.SendData{Text: m.Text, Parts: m.Parts, ClientMessageID: id, Front: true}
		if err := q.Commands.Session.Do(ctx, protocol.DoSend, send, nil); err != nil {
			return err
		}
		removed.Removed = false // the text is not lost
		return start(ctx, q.Commands.Session)
	}, q.Commands.Await(func(err error) tea.Cmd {
		if err != nil && removed.Removed {
			q.Restore(m.Text)
		}
		return q.Commands.Report(err)
	}))
}
