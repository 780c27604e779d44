package server

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"agentctl/internal/dev/codectest"
	"agentctl/internal/dev/myagenttest"
	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/myagent/wire"
)

// MY-6, MY-7, MY-9, MY-18, MY-35, X-9: after a reconnect with a state the client gets the frames
// after its last one, at any point: each once, with a new seq, the new session and its original
// seq. A notice ends them.
func TestAReplayBeginsAfterTheLastFrame(t *testing.T) {
	for _, by := range []string{"event_id", "seq"} {
		for last := uint64(1); last <= 15; last++ {
			store := new(codec.ResumeStore)
			p := myagenttest.NewNativeServer(t)
			b := newServerTest(t, p, store)
			b.Receive(`{"event":"user.create_session"}`)
			log := slices.Clone(b.Frames[1:])
			b.Receive(`{"event":"user.request_state"}`)
			state := myagenttest.MetaOf(b.NextFrame(wire.AgentStateExported))["signed_state"]
			b.ReceiveNative(p.Append("s1", myagenttest.CompletedTurn(1)...)...)
			b.ReceiveNative(p.Append("s1", myagenttest.CompletedTurn(2)...)...)
			var missed []string
			for _, m := range append(log, b.Frames...) {
				if uint64(m.Seq) > last {
					missed = append(missed, fmt.Sprint(m.Event, m.Seq))
				}
			}
			cid := b.Codec.(*Conn).id

			after := newServerTest(t, p, store)
			from := fmt.Sprintf(`"last_event_id":"%s-%d"`, cid, last)
			if by == "seq" {
				from = fmt.Sprintf(`"last_seq":%d`, last)
			}
			after.NextFrame(wire.SystemConnected)
			after.Receive(fmt.Sprintf(`{"event":"user.reconnect_with_state","signed_state":%s,"content":{%s}}`, state,
				from))
			m := after.NextFrame(wire.AgentStateRestored)
			if m.Session != "s2" || myagenttest.MetaOf(m).Str("original_session_id") != "s1" {
				t.Fatalf("restored %+v", m)
			}
			var got []string
			seq := m.Seq
			for len(after.Frames) > 0 && myagenttest.MetaOf(after.Frames[0]).Has("orig_seq") {
				m, o := after.Frames[0], myagenttest.MetaOf(after.Frames[0])
				after.Frames = after.Frames[1:]
				if seq++; m.Session != "s2" || m.Seq != seq ||
					o.Str("orig_event_id") != wire.EventID(cid, uint64(o.Int("orig_seq"))) {
					t.Fatalf("restamped %+v %s", m, m.Metadata)
				}
				got = append(got, fmt.Sprint(m.Event, o.Int("orig_seq")))
			}
			if !slices.Equal(got, missed) {
				t.Errorf("after %d by %s:\n got %v\nwant %v", last, by, got, missed)
			}
			if o := myagenttest.MetaOf(after.NextFrame(wire.SystemNotice)); o.Str("action") != wire.ActionReplay {
				t.Errorf("last notice %v", o)
			}
			if then := after.TakeEvents(); len(then) != 0 {
				t.Errorf("frames after the replay %v", then)
			}
		}
	}
}

// MY-9: an empty replay is announced.
func TestAnEmptyReplayIsAnnounced(t *testing.T) {
	store := new(codec.ResumeStore)
	b := newServerTest(t, myagenttest.NewNativeServer(t), store)
	b.Receive(`{"event":"user.create_session"}`)
	b.Receive(`{"event":"user.request_state"}`)
	m := b.NextFrame(wire.AgentStateExported)
	b.Receive(fmt.Sprintf(`{"event":"user.reconnect_with_state","signed_state":%s,"last_seq":%d}`,
		myagenttest.MetaOf(m)["signed_state"], m.Seq))
	b.NextFrame(wire.AgentStateRestored)
	n := b.NextFrame(wire.SystemNotice)
	if o := myagenttest.MetaOf(n); wire.Scalar(n.Content) != "No buffered events available for replay" ||
		o.Str("action") != "replay" || o.Str("count") != "0" {
		t.Errorf("%+v", n)
	}
	// The old session continues to exist, on this connection too.
	b.TakeEvents()
	b.ReceiveNative(b.Native.Append("s1", myagenttest.CompletedTurn(1)...)...)
	if m := b.NextFrame(wire.AgentFinalAnswer); m.Session != "s1" || wire.Scalar(m.Content) != "Hello world" {
		t.Errorf("%+v", m)
	}
	b.ReceiveNative(b.Native.Append("s2", myagenttest.CompletedTurn(1)...)...)
	if m := b.NextFrame(wire.AgentFinalAnswer); m.Session != "s2" {
		t.Errorf("%+v", m)
	}
}

// MY-6: acknowledged frames are not sent again, even on request. All forms of an ack are
// understood.
func TestAcknowledgedFramesAreNotReplayed(t *testing.T) {
	for _, ack := range []string{`"seq":%d`, `"content":%d`, `"content":{"last_seq":%d}`} {
		store := new(codec.ResumeStore)
		p := myagenttest.NewNativeServer(t)
		b := newServerTest(t, p, store)
		b.Receive(`{"event":"user.create_session"}`)
		b.ReceiveNative(p.Append("s1", myagenttest.CompletedTurn(1)...)...)
		end := b.NextFrame(wire.AgentFinalAnswer).Seq
		b.Receive(`{"event":"user.ack",` + fmt.Sprintf(ack, end-1) + `}`)
		if len(b.Frames) != 0 {
			t.Errorf("an ack is answered with %v", b.TakeEvents())
		}
		after := newServerTest(t, p, store)
		after.Receive(fmt.Sprintf(`{"event":"user.reconnect","session_id":"s1","content":{"last_event_id":"%s-1"}}`,
			b.Codec.(*Conn).id))
		got := after.TakeEvents()
		if !slices.Equal(got, []string{wire.SystemConnected, wire.SystemNotice, wire.AgentFinalAnswer, wire.SystemNotice}) {
			t.Errorf("%s: %v", ack, got)
		}
	}
}

// a plain reconnect gets a snapshot, the current turn and its pending confirmation.
func TestAPlainReconnectGetsAFreshSnapshot(t *testing.T) {
	p := myagenttest.NewNativeServer(t)
	b := newServerTest(t, p, nil)
	b.Receive(`{"event":"user.create_session"}`)
	b.ReceiveNative(p.Append("s1", myagenttest.CompletedTurn(1)...)...)
	b.ReceiveNative(p.Append("s1", myagenttest.PlanApprovalTurn()...)...)
	after := newServerTest(t, p, nil)
	after.Receive(`{"event":"user.reconnect","session_id":"s1"}`)
	n := after.NextFrame(wire.SystemNotice)
	if o := myagenttest.MetaOf(n); o.Str("action") != wire.ActionReconnected || o.Str("mode") != "snapshot" ||
		wire.ParseObject(o["state"]).Int("turns") != 1 {
		t.Errorf("%s", n.Metadata)
	}
	if m := after.NextFrame(wire.AgentUserConfirm); m.Step != "confirm_plan_r1" || myagenttest.MetaOf(m).Has("orig_seq") {
		t.Errorf("%+v", m)
	}
}

// A state over the size limit of MyAgent's clients is not sent to them.
func TestAStateThatIsTooLargeIsNotShown(t *testing.T) {
	p := myagenttest.NewNativeServer(t)
	p.Append("s1", codectest.Event(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "script"}))
	for n := range 10 {
		p.Append("s1", codectest.Event(protocol.QueueAdded, "", protocol.Message{
			MessageID: fmt.Sprint("q", n), Text: strings.Repeat("x", 100<<10),
		}))
	}
	p.Append("s1", myagenttest.CompletedTurn(1)...)
	// agentctl's client sends reply_to and accepts more
	for meta, want := range map[string]bool{`{}`: false, `{"reply_to":"a"}`: true} {
		b := newServerTest(t, p, nil)
		b.Receive(`{"event":"user.reconnect","session_id":"s1","metadata":` + meta + `}`)
		m := b.NextFrame(wire.SystemNotice)
		if got := myagenttest.MetaOf(m).Has("state"); got != want || myagenttest.MetaOf(m).Str("action") != wire.ActionReconnected {
			t.Errorf("%s: state sent %t", meta, got)
		}
	}
}

// a replay holds the newest 200 frames.
func TestAReplayIsBounded(t *testing.T) {
	store := new(codec.ResumeStore)
	p := myagenttest.NewNativeServer(t)
	b := newServerTest(t, p, store)
	b.Receive(`{"event":"user.create_session"}`)
	b.Receive(`{"event":"user.request_state"}`)
	state := myagenttest.MetaOf(b.NextFrame(wire.AgentStateExported))["signed_state"]
	for n := range 500 {
		b.ReceiveNative(p.Append("s1", myagenttest.CompletedTurn(n)...)...)
	}
	last := b.Codec.(*Conn).seq
	after := newServerTest(t, p, store)
	after.Receive(fmt.Sprintf(`{"event":"user.reconnect_with_state","signed_state":%s,"last_seq":1}`, state))
	n := 0
	for _, m := range after.Frames {
		if o := myagenttest.MetaOf(m); o.Has("orig_seq") {
			if n++; uint64(o.Int("orig_seq")) != last-maxReplay+uint64(n) {
				t.Fatalf("frame %d has orig_seq %s", n, o["orig_seq"])
			}
		}
	}
	if n != maxReplay {
		t.Errorf("%d frames", n)
	}
}
