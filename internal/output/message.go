package output

import (
	"fmt"
	"time"

	"agentctl/protocol"
)

// Queued returns a line about the i-th queued message.
func Queued(i int, m *protocol.Message) string {
	return fmt.Sprintf("%d  %s  %s  %s", i, m.MessageID, Actor(m.By), OneLine(m.Text, 72))
}

// Scheduled returns a line about a scheduled message.
func Scheduled(m *protocol.Message) string {
	due := ""
	if m.NotBefore != nil {
		due = LocalTime(*m.NotBefore)
	}
	return fmt.Sprintf("%s  %s  %s  %s", due, m.MessageID, Actor(m.By), OneLine(m.Text, 72))
}

// LocalTime formats a time for a user of this machine.
func LocalTime(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }
