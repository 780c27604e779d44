package input

import (
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

func TestEditorCommandsAreExplained(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 100)
	for typed, want := range map[string]string{
		":q": "ctrl+c twice leaves · enter again sends :q", ":help": "F1 shows the help", "exit": "ctrl+c twice leaves",
	} {
		s.typeText(typed)
		s.keys("enter")
		s.MustSendNothing()
		s.mustShow(want, "> "+typed)
		s.keys("enter")
		if data := s.MustSend(protocol.DoSend).(protocol.SendData); data.Text != typed {
			t.Errorf("got sent text %q, want %q", data.Text, typed)
		}
	}
}
