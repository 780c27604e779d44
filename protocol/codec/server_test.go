package codec

import (
	"testing"
	"time"

	"agentctl/protocol"
)

func TestAServerBaseLearnsItsConnectionAndWhenASubscriptionEnds(t *testing.T) {
	b := ServerBase{Options: ServerOptions{By: protocol.Actor{Name: "test@peer"}}}
	out := b.Run(time.Unix(1, 0), func() { b.Hello("test") })
	c, err := protocol.DecodeCommand(out.Native[0])
	if err != nil || c.Command != protocol.DoHello {
		t.Fatalf("%s: %v", out.Native[0], err)
	}
	b.Run(time.Unix(1, 0), func() {
		b.Receive(protocol.MustEncode(protocol.Answer{
			ID:     c.ID,
			Result: protocol.MustEncode(protocol.HelloResult{Connection: "c1"}),
		}))
	})
	event := func(typ protocol.Type, data any) *protocol.Event {
		return &protocol.Event{Session: "s", Type: typ, Data: protocol.MustEncode(data)}
	}
	for _, test := range []struct {
		event *protocol.Event
		why   protocol.Code
		ended bool
	}{
		{event(protocol.ClientDetached, protocol.Client{Client: "c1", Reason: "lagging"}), "lagging", true},
		{event(protocol.ClientDetached, protocol.Client{Client: "c2", Reason: "lagging"}), "", false},
		{event(protocol.ClientDetached, protocol.Client{Client: "c1"}), "", false},
		{event(protocol.SummaryChanged, protocol.Summary{Deleted: true}), protocol.CodeNoSession, true},
		{event(protocol.SummaryChanged, protocol.Summary{}), "", false},
		{event(protocol.TurnStarted, protocol.TurnStartedData{}), "", false},
	} {
		if why, ended := b.Unsubscribed(test.event); why != test.why || ended != test.ended {
			t.Errorf("%s %s: %q, %v", test.event.Type, test.event.Data, why, ended)
		}
	}
}

func TestASubscriptionResumesOrStartsFromTheSnapshot(t *testing.T) {
	var s Subscription
	at := protocol.Position{Epoch: "e", Seq: 4}
	if s.Position() != nil {
		t.Error("a position before the start")
	}
	if s.Start(&protocol.SubscribeResult{Session: "s", After: at, Mode: protocol.ModeSnapshot}) || *s.Position() != at {
		t.Errorf("start: %+v", s)
	}
	notice := func(seq uint64) *protocol.Event {
		return &protocol.Event{
			Session: "s", Seq: seq, Type: protocol.Notice,
			Data: protocol.MustEncode(protocol.NoticeData{Message: "x"}),
		}
	}
	if e := notice(5); s.Known(e) || !s.Contiguous(e) || !s.Apply(e) || !s.Known(e) {
		t.Errorf("the next event: %+v", s.State)
	}
	if e := notice(9); s.Contiguous(e) || !s.Apply(e) || s.State.Seq != 9 {
		t.Errorf("after a gap: %+v", s.State)
	}
	bad := &protocol.Event{Session: "s", Seq: 10, Type: protocol.TurnEnded, Data: []byte(`{`)}
	if s.Apply(bad) || s.State.Seq != 10 {
		t.Errorf("an event that does not apply: %+v", s.State)
	}
	if !s.Start(&protocol.SubscribeResult{
		Session: "s", After: protocol.Position{Epoch: "e", Seq: 10},
		Mode: protocol.ModeResume,
	}) || s.State.Seq != 10 {
		t.Errorf("resumed: %+v", s.State)
	}
}
