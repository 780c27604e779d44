package sessionview

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// queuedAndScheduled returns the queued messages in their order, then the scheduled ones by their
// times. The caller must not change the list.
func queuedAndScheduled(s *protocol.State) []protocol.Message {
	if len(s.Scheduled) == 0 {
		return s.Queue
	}
	return slices.Concat(s.Queue, s.Scheduled)
}

// waitingIndex returns the index of a queued or scheduled message in queuedAndScheduled, or -1.
func waitingIndex(s *protocol.State, message string) int {
	return slices.IndexFunc(queuedAndScheduled(s), func(m protocol.Message) bool { return m.MessageID == message })
}

// isScheduled reports whether a message is not in the queue yet.
func isScheduled(s *protocol.State, message string) bool { return s.ScheduledIndex(message) >= 0 }

// sendScheduledNow sends a scheduled message ahead of the queue instead of at its time. Under
// another name it would not be the same message, so for one of another user it asks before.
func (v *View) sendScheduledNow(m protocol.Message) tea.Cmd {
	if m.By != nil && *m.By == v.replica.Conn.By {
		return v.replaceScheduled(m)
	}
	by := format.JoinLines(transcript.Clean(remote.ActorName(m.By)))
	title := "send the message of " + by + " now, in your name?"
	v.overlays.Push(ui.NewQuestion(v.Styles, title, ui.Choice{Label: "Send", Run: func() tea.Cmd {
		return v.replaceScheduled(m)
	}}))
	return nil
}

// replaceScheduled removes a scheduled message and sends it at once. If it was queued meanwhile, it
// is started from there. A text that cannot be sent returns to the composer.
func (v *View) replaceScheduled(m protocol.Message) tea.Cmd {
	id, removed := v.NewID(), new(protocol.QueueRemoveResult)
	start := remote.StartNow(v.replica.State, m.MessageID)
	return v.commands.Run(func(ctx context.Context) error {
		data := protocol.QueueRemoveData{MessageID: m.MessageID}
		if err := v.Session.Do(ctx, protocol.DoQueueRemove, data, removed); err != nil || !removed.Removed {
			return err
		}
		send := protocol.SendData{Text: m.Text, Parts: m.Parts, ClientMessageID: id, Front: true}
		if err := v.Session.Do(ctx, protocol.DoSend, send, nil); err != nil {
			return err
		}
		removed.Removed = false // the text is not lost
		return remote.RunAll(ctx, v.Session, start)
	}, v.commands.Await(func(err error) tea.Cmd {
		if err != nil && removed.Removed {
			v.restore(m.Text, nil)
		}
		return v.commands.Report(err)
	}))
}
