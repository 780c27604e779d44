package myagent

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// MyAgent signs the output of Python's json.dumps(sort_keys=True, separators=(',', ':')).
func TestCanonicalJSONIsPythons(t *testing.T) {
	in := `{"session_id": "会话😀", "b": [1, 2.5, -0.0, true, null, "a\"\\/\n` + "\u007f\u2028" +
		`<>&"], "a": {"z": 1, "A": 2, "é": "x"}}`
	want := `{"a":{"A":2,"z":1,"\u00e9":"x"},"b":[1,2.5,-0.0,true,null,"a\"\\/\n\u007f\u2028<>&"],"session_id":"\u4f1a\u8bdd\ud83d\ude00"}`
	got, err := canonicalJSON([]byte(in))
	if err != nil || string(got) != want {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}
}

// pythonSign signs with the key of the states in these tests.
func pythonSign(text string) string {
	mac := hmac.New(sha256.New, bytes.Repeat([]byte("k"), 32))
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}

// The state was signed by Python's hmac and hashlib.
func TestAStateSignedByPythonIsVerified(t *testing.T) {
	state := `{"state": {"session_id": "séance-1", "current_step": 3, "agent_state": "AgentState.FINISHED",` +
		`"created_at": "2027-03-08T06:30:00.000100", "memory_snapshot": "[\"é\"]", "tool_states": {},` +
		`"pending_confirmations": [], "metadata": {"agent_name": "guide"}}, "timestamp": 1804400000,` +
		`"signature": "5c1243f264f9db88eb9a67c32c7283434f8c33118be51509f36783c326f7590c", "version": "1.0",` +
		`"checksum": "a82c9b83761a83f156927deded7d1afb4b3a710015168eb527f7e2bb69debbfa"}`
	for _, c := range []struct{ old, new, want string }{
		{"", "", "not a state of this server"}, // all else is verified before
		{`"current_step": 3`, `"current_step": 4`, "checksum mismatch"},
		{`"5c12`, `"6c12`, "signature mismatch"},
		{"1804400000", "1804400001", "signature mismatch"},
	} {
		raw := []byte(strings.Replace(state, c.old, c.new, 1))
		if _, err := verifyState(raw, time.Unix(1804400000, 0), time.Hour, pythonSign); err == nil ||
			err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.new, err, c.want)
		}
	}
}

// A number in any notation is signed as Python writes it.
func TestCanonicalNumbersArePythons(t *testing.T) {
	for in, want := range map[string]string{
		"0": "0", "-0": "0", "-3": "-3", "100000000000000000000000": "100000000000000000000000", "1.0": "1.0",
		"1e0": "1.0", "1.50": "1.5", "-0.0": "-0.0",
		"1e16": "1e+16", "1E+16": "1e+16", "9999999999999998.0": "9999999999999998.0", "1e15": "1000000000000000.0",
		"1e22":                   "1e+22",
		"12345678901234567890.0": "1.2345678901234567e+19", "0.0001": "0.0001", "0.00001": "1e-05", "1e-7": "1e-07",
		"1.5e-7": "1.5e-07", "0.1": "0.1",
		"0.30000000000000004": "0.30000000000000004", "1.5e300": "1.5e+300", "5e-324": "5e-324", "1e-400": "0.0",
		"2.5e100": "2.5e+100",
	} {
		if got, err := canonicalJSON([]byte(`[` + in + `]`)); err != nil || string(got) != `[`+want+`]` {
			t.Errorf("%s is signed as %s, want %s (%v)", in, got, want, err)
		}
	}
}

// completedTurn returns the events of a turn.
func completedTurn(n int) []protocol.Event {
	turn, message := fmt.Sprintf("t%d", n), fmt.Sprintf("m%d", n)
	return []protocol.Event{
		event(protocol.MessageUser, turn, protocol.Message{MessageID: message, Text: "hi"}),
		event(protocol.TurnStarted, turn, protocol.TurnStartedData{MessageID: message}),
		event(protocol.TextStart, turn, protocol.PartStartData{Part: "p1"}),
		event(protocol.TextDelta, turn, protocol.PartDeltaData{Part: "p1", Text: "Hello "}),
		event(protocol.TextDelta, turn, protocol.PartDeltaData{Part: "p1", Text: "world"}),
		event(protocol.TextEnd, turn, protocol.PartEndData{Part: "p1"}),
		event(protocol.TurnEnded, turn, protocol.TurnEndedData{Reason: protocol.ReasonCompleted}),
	}
}

// MY-6, MY-7, MY-9, MY-18, MY-35, X-9: after a reconnect with a state the client gets the frames
// after its last one, at any point: each once, with a new seq, the new session and its original
// seq. A notice ends them.
func TestAReplayBeginsAfterTheLastFrame(t *testing.T) {
	for _, by := range []string{"event_id", "seq"} {
		for last := uint64(1); last <= 15; last++ {
			store := new(codec.ResumeStore)
			p := newNativeServer(t)
			b := newServerTest(t, p, store)
			b.receive(`{"event":"user.create_session"}`)
			log := slices.Clone(b.frames[1:])
			b.receive(`{"event":"user.request_state"}`)
			state := metaOf(b.nextFrame(agentStateExported))["signed_state"]
			b.receiveNative(p.append("s1", completedTurn(1)...)...)
			b.receiveNative(p.append("s1", completedTurn(2)...)...)
			var missed []string
			for _, m := range append(log, b.frames...) {
				if uint64(m.Seq) > last {
					missed = append(missed, fmt.Sprint(m.Event, m.Seq))
				}
			}
			cid := b.codec.(*server).id

			after := newServerTest(t, p, store)
			from := fmt.Sprintf(`"last_event_id":"%s-%d"`, cid, last)
			if by == "seq" {
				from = fmt.Sprintf(`"last_seq":%d`, last)
			}
			after.nextFrame(systemConnected)
			after.receive(fmt.Sprintf(`{"event":"user.reconnect_with_state","signed_state":%s,"content":{%s}}`, state,
				from))
			m := after.nextFrame(agentStateRestored)
			if m.Session != "s2" || metaOf(m).str("original_session_id") != "s1" {
				t.Fatalf("restored %+v", m)
			}
			var got []string
			seq := m.Seq
			for len(after.frames) > 0 && metaOf(after.frames[0]).has("orig_seq") {
				m, o := after.frames[0], metaOf(after.frames[0])
				after.frames = after.frames[1:]
				if seq++; m.Session != "s2" || m.Seq != seq ||
					o.str("orig_event_id") != eventID(cid, uint64(o.int("orig_seq"))) {
					t.Fatalf("restamped %+v %s", m, m.Metadata)
				}
				got = append(got, fmt.Sprint(m.Event, o.int("orig_seq")))
			}
			if !slices.Equal(got, missed) {
				t.Errorf("after %d by %s:\n got %v\nwant %v", last, by, got, missed)
			}
			if o := metaOf(after.nextFrame(systemNotice)); o.str("action") != actionReplay {
				t.Errorf("last notice %v", o)
			}
			if then := after.takeEvents(); len(then) != 0 {
				t.Errorf("frames after the replay %v", then)
			}
		}
	}
}

// MY-9: an empty replay is announced.
func TestAnEmptyReplayIsAnnounced(t *testing.T) {
	store := new(codec.ResumeStore)
	b := newServerTest(t, newNativeServer(t), store)
	b.receive(`{"event":"user.create_session"}`)
	b.receive(`{"event":"user.request_state"}`)
	m := b.nextFrame(agentStateExported)
	b.receive(fmt.Sprintf(`{"event":"user.reconnect_with_state","signed_state":%s,"last_seq":%d}`,
		metaOf(m)["signed_state"], m.Seq))
	b.nextFrame(agentStateRestored)
	n := b.nextFrame(systemNotice)
	if o := metaOf(n); scalarText(n.Content) != "No buffered events available for replay" ||
		o.str("action") != "replay" || o.str("count") != "0" {
		t.Errorf("%+v", n)
	}
	// The old session continues to exist, on this connection too.
	b.takeEvents()
	b.receiveNative(b.native.append("s1", completedTurn(1)...)...)
	if m := b.nextFrame(agentFinalAnswer); m.Session != "s1" || scalarText(m.Content) != "Hello world" {
		t.Errorf("%+v", m)
	}
	b.receiveNative(b.native.append("s2", completedTurn(1)...)...)
	if m := b.nextFrame(agentFinalAnswer); m.Session != "s2" {
		t.Errorf("%+v", m)
	}
}

// MY-6: acknowledged frames are not sent again, even on request. All forms of an ack are
// understood.
func TestAcknowledgedFramesAreNotReplayed(t *testing.T) {
	for _, ack := range []string{`"seq":%d`, `"content":%d`, `"content":{"last_seq":%d}`} {
		store := new(codec.ResumeStore)
		p := newNativeServer(t)
		b := newServerTest(t, p, store)
		b.receive(`{"event":"user.create_session"}`)
		b.receiveNative(p.append("s1", completedTurn(1)...)...)
		end := b.nextFrame(agentFinalAnswer).Seq
		b.receive(`{"event":"user.ack",` + fmt.Sprintf(ack, end-1) + `}`)
		if len(b.frames) != 0 {
			t.Errorf("an ack is answered with %v", b.takeEvents())
		}
		after := newServerTest(t, p, store)
		after.receive(fmt.Sprintf(`{"event":"user.reconnect","session_id":"s1","content":{"last_event_id":"%s-1"}}`,
			b.codec.(*server).id))
		got := after.takeEvents()
		if !slices.Equal(got, []string{systemConnected, systemNotice, agentFinalAnswer, systemNotice}) {
			t.Errorf("%s: %v", ack, got)
		}
	}
}

// a plain reconnect gets a snapshot, the current turn and its pending confirmation.
func TestAPlainReconnectGetsAFreshSnapshot(t *testing.T) {
	p := newNativeServer(t)
	b := newServerTest(t, p, nil)
	b.receive(`{"event":"user.create_session"}`)
	b.receiveNative(p.append("s1", completedTurn(1)...)...)
	b.receiveNative(p.append("s1", planApprovalTurn()...)...)
	after := newServerTest(t, p, nil)
	after.receive(`{"event":"user.reconnect","session_id":"s1"}`)
	n := after.nextFrame(systemNotice)
	if o := metaOf(n); o.str("action") != actionReconnected || o.str("mode") != "snapshot" ||
		parseObject(o["state"]).int("turns") != 1 {
		t.Errorf("%s", n.Metadata)
	}
	if m := after.nextFrame(agentUserConfirm); m.Step != "confirm_plan_r1" || metaOf(m).has("orig_seq") {
		t.Errorf("%+v", m)
	}
}

// A state over the size limit of MyAgent's clients is not sent to them.
func TestAStateThatIsTooLargeIsNotShown(t *testing.T) {
	p := newNativeServer(t)
	p.append("s1", event(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "script"}))
	for n := range 10 {
		p.append("s1", event(protocol.QueueAdded, "", protocol.Message{
			MessageID: fmt.Sprint("q", n), Text: strings.Repeat("x", 100<<10),
		}))
	}
	p.append("s1", completedTurn(1)...)
	// agentctl's client sends reply_to and accepts more
	for meta, want := range map[string]bool{`{}`: false, `{"reply_to":"a"}`: true} {
		b := newServerTest(t, p, nil)
		b.receive(`{"event":"user.reconnect","session_id":"s1","metadata":` + meta + `}`)
		m := b.nextFrame(systemNotice)
		if got := metaOf(m).has("state"); got != want || metaOf(m).str("action") != actionReconnected {
			t.Errorf("%s: state sent %t", meta, got)
		}
	}
}

// a replay holds the newest 200 frames.
func TestAReplayIsBounded(t *testing.T) {
	store := new(codec.ResumeStore)
	p := newNativeServer(t)
	b := newServerTest(t, p, store)
	b.receive(`{"event":"user.create_session"}`)
	b.receive(`{"event":"user.request_state"}`)
	state := metaOf(b.nextFrame(agentStateExported))["signed_state"]
	for n := range 500 {
		b.receiveNative(p.append("s1", completedTurn(n)...)...)
	}
	last := b.codec.(*server).seq
	after := newServerTest(t, p, store)
	after.receive(fmt.Sprintf(`{"event":"user.reconnect_with_state","signed_state":%s,"last_seq":1}`, state))
	n := 0
	for _, m := range after.frames {
		if o := metaOf(m); o.has("orig_seq") {
			if n++; uint64(o.int("orig_seq")) != last-maxReplay+uint64(n) {
				t.Fatalf("frame %d has orig_seq %s", n, o["orig_seq"])
			}
		}
	}
	if n != maxReplay {
		t.Errorf("%d frames", n)
	}
}
