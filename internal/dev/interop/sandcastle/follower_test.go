//go:build interop

package sandcastle

import (
	"strings"
	"testing"

	"agentctl/internal/dev/interop/interoptest"
	"agentctl/protocol"
	"agentctl/wsclient"
)

// A follower is an agentctl client that follows a session.
type follower struct{ *interoptest.Follower }

// follow attaches to a session.
func follow(t *testing.T, c *wsclient.Client, session string) *follower {
	t.Helper()
	return &follower{interoptest.Follow(t, c, session, true)}
}

// ended returns a condition: the turn of a message has ended.
func (f *follower) ended(message string) func() bool {
	return func() bool {
		t := f.turn(message)
		return t != nil && t.End != nil
	}
}

// turn returns the newest turn of a message with that text, or nil.
func (f *follower) turn(message string) *protocol.Turn {
	for i := len(f.Transcript.Turns) - 1; i >= 0; i-- {
		if t := f.Transcript.Turns[i]; t.Message.Text == message {
			return t
		}
	}
	return nil
}

// agentText returns the agent's text in the turn of a message.
func (f *follower) agentText(message string) string {
	var b strings.Builder
	if t := f.turn(message); t != nil {
		for _, it := range t.Items {
			if it.Kind == protocol.ItemText {
				b.Write(it.Text)
			}
		}
	}
	return b.String()
}

func (f *follower) interrupt() protocol.InterruptResult {
	f.T.Helper()
	return interoptest.Do[protocol.InterruptResult](f.Follower, protocol.DoInterrupt, protocol.InterruptData{})
}
