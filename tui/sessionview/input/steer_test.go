package input

import (
	"reflect"
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

func TestAMessageIsSentIntoTheTurn(t *testing.T) {
	s := open(t, tuitest.Scenes["steering"](), 80)
	s.MustShow("alt+j into the turn")
	s.Session.Reply = func(tuitest.Command) (any, error) {
		return protocol.SendResult{Status: protocol.SendSteering, MessageID: "m9"}, nil
	}
	s.typeText("shorter please")
	s.keys("alt+j")
	want := protocol.SendData{Text: "shorter please", ClientMessageID: "client-m101", Delivery: protocol.DeliverSteer}
	if got := s.MustSend(protocol.DoSend); !reflect.DeepEqual(got, want) {
		t.Errorf("sent %+v, want %+v", got, want)
	}
	s.MustShow("into the turn, at the agent's next safe point")

	// The user's earlier messages have those that joined turns.
	for _, text := range []string{"shorter please", "Name the tables in the plural.", "And no migrations yet."} {
		s.keys("up")
		s.MustShow(text)
	}

	// A command runs as with enter; an edit of a queued message does not become a new message.
	s = open(t, tuitest.Scenes["queue"](), 80)
	s.MustHide("into the turn")
	m := s.Replica.State.Queue[0]
	s.Run(s.in.EditQueued(m))
	s.TakeCommands()
	s.keys("alt+j")
	s.MustSendNothing()
	s.MustShow("only a new message is sent into the turn")
}
