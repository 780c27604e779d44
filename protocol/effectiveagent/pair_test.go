package effectiveagent

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"agentctl/protocol/codec"

	"pgregory.net/rapid"

	"agentctl/protocol"
)

// A pair is both codecs back to back: our client before our server, over the dialect.
type pair struct {
	*host
	guest *guest
}

func newPair(t testing.TB) *pair { return &pair{newHost(t), newGuest(t, nil)} }

// settle carries frames to and fro until there are none.
func (p *pair) settle() {
	p.guest.t.Helper()
	for {
		up, down := p.guest.flush(), p.host.flush()
		if len(up)+len(down) == 0 {
			return
		}
		for _, f := range up {
			p.host.take(p.host.codec.Foreign(start, codec.Frame{Data: []byte(f)}))
		}
		p.guest.hears(down...)
	}
}

// does gives a command to the client's end and carries it over.
func (p *pair) does(verb protocol.Verb, session string, data any) string {
	p.guest.t.Helper()
	id := p.guest.does(verb, session, data)
	p.settle()
	return id
}

// happen makes an event at the server and carries it over.
func (p *pair) happen(session string, typ protocol.Type, turn string, data any) {
	p.guest.t.Helper()
	p.pass(p.happens(session, typ, turn, data))
}

func (p *pair) pass(line []byte) {
	p.guest.t.Helper()
	p.host.take(p.host.codec.Native(start, line))
	p.settle()
}

// A session that is followed from its beginning is the same at both ends, whatever happens in it.
func TestASessionCrossesWhole(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := newPair(t)
		p.does(protocol.DoSubscribe, "s1", nil)
		truth := &protocol.Transcript{}
		for _, e := range history(rt) {
			line := p.event(&e)
			if _, err := truth.Apply(&e); err != nil {
				rt.Fatal(err)
			}
			p.pass(line)
		}
		for _, both := range [][2]any{{p.states["s1"], p.guest.state}, {truth, p.guest.transcript}} {
			if there, here := protocol.MustEncode(both[0]), protocol.MustEncode(both[1]); string(there) != string(here) {
				rt.Fatalf("at the server %s\nat the client %s", there, here)
			}
		}
	})
}

// history draws the events of a legal session, of every type that there is.
func history(t *rapid.T) (events []protocol.Event) {
	turn, by := "", &protocol.Actor{Name: "grace", Subject: "g@x"}
	texts := rapid.StringN(0, 8, -1)
	add := func(typ protocol.Type, data any) {
		e := protocol.Event{
			Session: "s1", Seq: uint64(len(events) + 1), Turn: turn, Type: typ, Data: protocol.MustEncode(data),
			Time: start.Add(time.Duration(rapid.IntRange(0, 1e6).Draw(t, "ms")) * time.Millisecond),
		}
		if rapid.Bool().Draw(t, "by") {
			e.By = by
		}
		if turn != "" && rapid.Bool().Draw(t, "within") {
			e.Task, e.Parent = "k1", "call-1"
		}
		events = append(events, e)
	}
	add(protocol.SessionCreated, protocol.SessionCreatedData{Name: "fix-ci", Agent: "claude", CWD: "/x"})
	for n := range rapid.IntRange(1, 3).Draw(t, "turns") {
		turn = fmt.Sprintf("t%d", n)
		add(protocol.MessageUser, protocol.MessageUserData{Message: protocol.Message{MessageID: turn, Text: texts.Draw(t, "text"), By: by}})
		for range rapid.IntRange(0, 40).Draw(t, "events") {
			kind := rapid.SampledFrom(protocol.EventTypes).Draw(t, "type")
			switch {
			case kind.Ephemeral, kind.Type == protocol.MessageUser, kind.Type == protocol.TurnEnded, kind.Type == protocol.SessionCreated:
				continue
			}
			add(kind.Type, drawn(t, kind.Type, texts.Draw(t, "text")))
		}
		add(protocol.TurnEnded, protocol.TurnEndedData{Reason: protocol.ReasonCompleted, DurationMS: 5})
		turn = ""
		if rapid.Bool().Draw(t, "between") {
			add(protocol.QueueAdded, drawn(t, protocol.QueueAdded, "later"))
		}
	}
	return events
}

// drawn draws the data of an event.
func drawn(t *rapid.T, typ protocol.Type, text string) any {
	id := fmt.Sprint(rapid.IntRange(0, 2).Draw(t, "id"))
	fields := map[string]any{
		"part": id, "tool": id, "text": text, "message": text, "request": id, "kind": "command", "title": text, "options": []any{},
		"message_id": id, "index": rapid.IntRange(0, 2).Draw(t, "index"), "id": id, "reason": "user", "holds": []string{id}, "task": id,
		"tasks": []protocol.Task{{ID: "0", Title: text}, {ID: "1"}}, "tokens": 7, "percent": 7.5, "input": 3, "name": text, "level": "info",
		"source": "acp", "data": map[string]any{"x": []any{1, nil, text}}, "status": "completed", "outcome": "allowed", "rule": protocol.Rule{ID: id},
		"parts": []protocol.JoinedPart{{Part: id, Kind: protocol.KindText, Text: text}, {Part: id, Kind: protocol.KindOutput, Text: text}},
	}
	data := protocol.EventTypes[index(typ)].New()
	if typ == protocol.AggregateStarted || typ == protocol.AggregateCompleted || typ == protocol.PipelineCompleted {
		delete(fields, "tasks")
	}
	for name, v := range fields { // each field that this type can hold
		one, _ := json.Marshal(map[string]any{name: v})
		_ = json.Unmarshal(one, data)
	}
	return data
}

func index(typ protocol.Type) int {
	for i, t := range protocol.EventTypes {
		if t.Type == typ {
			return i
		}
	}
	panic(typ)
}

// A command goes to a server of our kind with its key, and its answer is what the server's events tell.
func TestCommandsCrossToAServerOfOurKind(t *testing.T) {
	p := newPair(t)
	p.does(protocol.DoSubscribe, "s1", nil)

	send := p.does(protocol.DoSend, "s1", protocol.SendData{Text: "why?", Parts: []protocol.Part{{Type: "file", Name: "a"}}})
	c := p.got[len(p.got)-1]
	if c.Command != protocol.DoSend || c.Key != "key-2" || string(c.Data) != `{"text":"why?","parts":[{"type":"file","name":"a"}],"client_message_id":"key-2"}` {
		t.Fatalf("the server got %s %s %s", c.Command, c.Key, c.Data)
	}
	message := func(id, key string) protocol.Message {
		return protocol.Message{MessageID: id, Text: "why?", ClientMessageID: key}
	}
	p.happen("s1", protocol.MessageUser, "t1", protocol.MessageUserData{Message: message("m1", "key-2")})
	var started protocol.SendResult
	if p.guest.result(send, &started); started != (protocol.SendResult{Status: protocol.SendStarted, MessageID: "m1", Turn: "t1", Seq: 1}) {
		t.Errorf("send: %+v", started)
	}

	send = p.does(protocol.DoSend, "s1", protocol.SendData{Text: "why?"})
	p.happen("s1", protocol.QueueAdded, "", protocol.QueueAddedData{Message: message("m2", "key-3")})
	var queued protocol.SendResult
	if p.guest.result(send, &queued); queued.Status != protocol.SendQueued || *queued.Index != 0 || queued.MessageID != "m2" {
		t.Errorf("send: %+v", queued)
	}

	p.happen("s1", protocol.ApprovalRequested, "t1", protocol.Approval{Request: "a1", Kind: protocol.ApproveCommand, Options: []protocol.Option{}})
	approve := p.does(protocol.DoApprove, "s1", protocol.ApproveData{Decision: protocol.Deny})
	if c := p.got[len(p.got)-1]; c.Command != protocol.DoApprove || string(c.Data) != `{"request":"a1","decision":"deny"}` {
		t.Errorf("the server got %s %s", c.Command, c.Data)
	}
	p.happen("s1", protocol.ApprovalResolved, "t1", protocol.ApprovalResolvedData{Request: "a1", Outcome: protocol.Denied, Decision: protocol.Deny})
	p.guest.waits(grace)
	var decided protocol.ApproveResult
	if p.guest.result(approve, &decided); decided.Outcome != protocol.Denied {
		t.Errorf("approve: %+v", decided)
	}
	p.refuse[protocol.DoApprove] = protocol.Errorf(protocol.CodeConflict, "grace has already decided")
	if id := p.does(protocol.DoApprove, "s1", protocol.ApproveData{Request: "a1", Decision: protocol.Deny}); p.guest.code(id) != protocol.CodeConflict {
		t.Errorf("approve: %v", p.guest.answers[id])
	}

	hold := p.does(protocol.DoQueueHold, "s1", nil)
	p.happen("s1", protocol.QueueHeld, "", protocol.Hold{ID: "h1", Reason: protocol.HoldUser})
	remove := p.does(protocol.DoQueueRemove, "s1", protocol.QueueRemoveData{MessageID: "m2"})
	p.happen("s1", protocol.QueueRemoved, "", protocol.QueueRemovedData{MessageID: "m2", Reason: protocol.RemovedUser})
	release := p.does(protocol.DoQueueRelease, "s1", nil)
	p.happen("s1", protocol.QueueReleased, "", protocol.QueueReleasedData{Holds: []string{"h1"}})
	p.guest.waits(grace)
	for id, want := range map[string]string{hold: `{"hold":"h1"}`, remove: `{"removed":true}`, release: `{"released":["h1"]}`} {
		if a := p.guest.answers[id]; string(a.Result) != want {
			t.Errorf("answered %s %v, want %s", a.Result, a.Error, want)
		}
	}

	interrupt := p.does(protocol.DoInterrupt, "s1", protocol.InterruptData{Turn: "t1"})
	p.guest.waits(time.Minute)
	if _, ok := p.guest.answers[interrupt]; ok {
		t.Error("an interrupt is answered while its turn runs")
	}
	p.happen("s1", protocol.TurnEnded, "t1", protocol.TurnEndedData{Reason: protocol.ReasonInterrupted})
	for id, want := range map[string]string{
		interrupt: `{"interrupted":true,"turn":"t1"}`, p.does(protocol.DoInterrupt, "s1", nil): `{"interrupted":false}`,
	} {
		if a := p.guest.answers[id]; string(a.Result) != want {
			t.Errorf("answered %s %v, want %s", a.Result, a.Error, want)
		}
	}
}

// Who stops following does not wait for what events would have told.
func TestACommandEndsWithTheFollowing(t *testing.T) {
	p := newPair(t)
	p.does(protocol.DoSubscribe, "s1", nil)
	p.happen("s1", protocol.MessageUser, "t1", protocol.MessageUserData{Message: protocol.Message{MessageID: "m1", Text: "why?"}})
	interrupt := p.does(protocol.DoInterrupt, "s1", nil)
	approve := p.does(protocol.DoApprove, "s1", protocol.ApproveData{Request: "a1", Decision: protocol.AllowOnce})
	explain := p.does(protocol.DoApprove, "s1", protocol.ApproveData{Request: "a1", Decision: protocol.Explain})
	p.guest.waits(grace)
	if a := p.guest.answers[explain]; string(a.Result) != `{"request":"a1","decision":"explain"}` {
		t.Errorf("explain: %s %v", a.Result, a.Error)
	}
	p.does(protocol.DoUnsubscribe, "s1", nil)
	if p.guest.code(interrupt) != protocol.CodeNotSubscribed || p.guest.code(approve) != protocol.CodeNotSubscribed {
		t.Errorf("answered %v and %v", p.guest.answers[interrupt], p.guest.answers[approve])
	}
}

// Who joins in the middle of a turn sees the rest of it, in a turn of the same name, and can end it.
func TestAClientJoinsInTheMiddleOfATurn(t *testing.T) {
	p := newPair(t)
	p.happens("s1", protocol.MessageUser, "t1", protocol.MessageUserData{Message: protocol.Message{MessageID: "m1", Text: "why?"}})
	p.does(protocol.DoSubscribe, "s1", nil)
	p.happen("s1", protocol.TextDelta, "t1", protocol.PartDeltaData{Part: "p1", Text: "because"})
	if turn := p.guest.state.Turn; turn == nil || turn.Turn != "t1" || string(p.guest.transcript.Turns[0].Items[0].Text) != "because" {
		t.Fatalf("turn %+v", turn)
	}
	p.happen("s1", protocol.TurnEnded, "t1", protocol.TurnEndedData{Reason: protocol.ReasonCompleted})
	if p.guest.state.Turn != nil || p.guest.state.Last.Reason != protocol.ReasonCompleted {
		t.Errorf("ended %+v", p.guest.state.Last)
	}
}

// Over a reconnect a server of our kind goes on from the last activity that the client has: nothing is missed, nothing comes twice.
func TestAReconnectGoesOnFromTheLastActivity(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := newPair(t)
		p.does(protocol.DoSubscribe, "s1", nil)
		events := history(rt)
		first, second := rapid.IntRange(1, len(events)).Draw(rt, "first"), rapid.IntRange(1, len(events)).Draw(rt, "second")
		truth := &protocol.Transcript{}
		for i := range events {
			line := p.event(&events[i])
			if _, err := truth.Apply(&events[i]); err != nil {
				rt.Fatal(err)
			}
			if i < min(first, second) {
				p.pass(line)
			} // what comes after that, the client misses
			if i != max(first, second)-1 {
				continue
			}
			was, at := p.guest, protocol.Position{Epoch: p.guest.codec.sessions["s1"].log.Epoch, Seq: p.guest.state.Seq}
			again := &pair{newHost(t), newGuest(t, &codec.ClientState{Value: was.codec.memory})}
			again.peer.states, again.peer.logs, again.guest.state, again.guest.transcript = p.peer.states, p.peer.logs, was.state, was.transcript
			p = again
			id := p.does(protocol.DoSubscribe, "s1", protocol.SubscribeData{Position: &at})
			var r protocol.SubscribeResult
			if p.guest.result(id, &r); r.Mode != protocol.ModeResume || r.Reason != protocol.ResumeReplayed || r.After != at {
				rt.Fatalf("attached %+v after %v", r, at)
			}
			first, second = len(events), len(events)
		}
		for _, both := range [][2]any{{p.states["s1"], p.guest.state}, {truth, p.guest.transcript}} {
			if there, here := protocol.MustEncode(both[0]), protocol.MustEncode(both[1]); string(there) != string(here) {
				rt.Fatalf("at the server %s\nat the client %s", there, here)
			}
		}
	})
}

// What is done while it is not known whether the server goes on waits for that, and not for ever.
func TestCommandsWaitForHowASessionGoesOn(t *testing.T) {
	p := newPair(t)
	p.does(protocol.DoSubscribe, "s1", nil)
	p.happen("s1", protocol.MessageUser, "t1", protocol.MessageUserData{Message: protocol.Message{MessageID: "m1", Text: "why?"}})
	var g *guest // at a server that is not of our kind
	var send, look string
	for n := range resumeTries {
		g = newGuest(t, &codec.ClientState{Value: p.guest.codec.memory})
		send, look = g.does(protocol.DoSend, "s1", protocol.SendData{Text: "x"}), g.does(protocol.DoSnapshot, "s1", nil)
		if said := g.flush(); len(said) != 1 || said[0] != `{"type":"subscribe","agentRuntimeId":"s1","metadata":{"agentctl":{"after":"9f3ac1:1"}}}` {
			t.Fatalf("said %s", said)
		}
		if g.now = g.now.Add(resumeWait); !g.wake.Equal(g.now) {
			t.Fatalf("connection %d: woken at %s", n, g.wake)
		}
		out := g.codec.Wake(g.now)
		if last := n == resumeTries-1; (out.Close == nil) != last { // the connection may be to blame
			t.Fatalf("connection %d: closed %v", n, out.Close)
		}
		out.Close = nil
		g.take(out)
	}
	if said := g.flush(); len(said) != 1 || !strings.Contains(said[0], `"type":"send"`) {
		t.Fatalf("said %s", said)
	}
	g.waits(grace)
	if g.answers[send].Error != nil || g.answers[look].Error != nil || len(g.answers) < 2 {
		t.Errorf("answered %+v", g.answers)
	}
	if last := g.codec.sessions["s1"].log.State.Last; last == nil || last.Turn != "t1" || last.Reason != protocol.ReasonError {
		t.Errorf("the turn before ended %+v", last)
	}
}

// A turn that went on over a reconnect, at a server whose log is another one, is two at the client: what lies between is not known.
func TestATurnGoesOnAfterAReconnect(t *testing.T) {
	p := newPair(t)
	p.does(protocol.DoSubscribe, "s1", nil)
	p.happen("s1", protocol.MessageUser, "t1", protocol.MessageUserData{Message: protocol.Message{MessageID: "m1", Text: "why?"}})

	again := &pair{newHost(t), newGuest(t, &codec.ClientState{Value: p.guest.codec.memory})}
	again.epoch, again.states["s1"], again.logs["s1"] = "e0e0e0", p.states["s1"], p.logs["s1"]
	again.does(protocol.DoSubscribe, "s1", nil)
	again.happen("s1", protocol.TextDelta, "t1", protocol.PartDeltaData{Part: "p1", Text: "because"})
	turn := again.guest.state.Turn
	if turn == nil || turn.Turn == "t1" || again.guest.state.Last.Turn != "t1" {
		t.Fatalf("turn %+v", turn)
	}
	interrupt := again.does(protocol.DoInterrupt, "s1", nil)
	if c := again.got[len(again.got)-1]; string(c.Data) != `{"turn":"t1"}` {
		t.Errorf("interrupts %s", c.Data)
	}
	again.happen("s1", protocol.TurnEnded, "t1", protocol.TurnEndedData{Reason: protocol.ReasonInterrupted})
	var r protocol.InterruptResult
	if again.guest.result(interrupt, &r); !r.Interrupted || r.Turn != turn.Turn || again.guest.state.Turn != nil {
		t.Errorf("interrupted %+v", r)
	}
}

// A server of our kind that tells of a message late does not make it two.
func TestALateMessageIsNotASecondOne(t *testing.T) {
	p := newPair(t)
	p.does(protocol.DoSubscribe, "s1", nil)
	p.does(protocol.DoSend, "s1", protocol.SendData{Text: "why?"})
	p.guest.waits(grace)
	p.happen("s1", protocol.MessageUser, "t1", protocol.MessageUserData{Message: protocol.Message{MessageID: "m1", Text: "why?", ClientMessageID: "key-2"}})
	p.happen("s1", protocol.TurnEnded, "t1", protocol.TurnEndedData{Reason: protocol.ReasonCompleted})
	if p.guest.state.Turns != 1 || len(p.guest.transcript.Turns) != 1 || p.guest.transcript.Turns[0].End == nil {
		t.Errorf("transcript %s", protocol.MustEncode(p.guest.transcript))
	}
}

// EA-15 over both ends: what the server refuses is refused, with its own code.
func TestARefusalCrosses(t *testing.T) {
	p := newPair(t)
	if id := p.does(protocol.DoSend, "gone", protocol.SendData{Text: "x"}); p.guest.code(id) != protocol.CodeNoSession {
		t.Errorf("send: %v", p.guest.answers[id])
	}
	p.does(protocol.DoSubscribe, "gone", nil)
	if id := p.does(protocol.DoSubscribe, "gone", nil); p.guest.code(id) != protocol.CodeNoSession {
		t.Errorf("subscribe: %v", p.guest.answers[id])
	}
}

// Whatever a server says in whatever order, events fold, every send has an answer, and what is remembered is bounded.
func TestNothingOutOfOrderEndsAnything(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := follow(t)
		some := func(list ...string) string { return rapid.SampledFrom(list).Draw(rt, "some") }
		for range rapid.IntRange(1, 60).Draw(rt, "frames") {
			switch rapid.IntRange(0, 9).Draw(rt, "what") {
			case 0:
				g.does(protocol.DoSend, "r", protocol.SendData{Text: "x", ClientMessageID: some("", "m0", "m1")})
			case 1:
				g.does(protocol.Verb(some("interrupt", "approve", "queue.hold", "queue.release", "history", "snapshot")), "r", nil)
			case 2:
				g.does(protocol.Verb(some("subscribe", "unsubscribe")), "r", nil)
			case 3:
				g.waits(time.Duration(rapid.IntRange(0, 6000).Draw(rt, "ms")) * time.Millisecond)
			case 4:
				g.hears(`{"type":"error","code":"` + some(string(sendFailed), string(subscribeFailed), "x") + `","message":"` + some("r", "") + `"}`)
			case 5:
				g.hears(says(`{"id":"` + some("m0", "m1") + `","type":"` + some("input", "output", "error", "status", "x") + `","payload":` + some(`"idle"`, `{}`, `7`) + `}`))
			default:
				typ := rapid.SampledFrom(protocol.EventTypes).Draw(rt, "type").Type
				e := note{Event: typ, Turn: some("", "t0", "t1", "t2")}
				data := protocol.MustEncode(drawn(rt, typ, "x"))
				if m, ok := drawn(rt, typ, "x").(*protocol.MessageUserData); ok {
					m.ClientMessageID = some("", "m0", "m1")
					data = protocol.MustEncode(m)
				}
				g.hears(string(protocol.MustEncode(activityMessage{typeActivity, "r", activity{Payload: data, Metadata: &metadata{Note: &e}}})))
			}
			if s := g.codec.sessions["r"]; s != nil && s.log.Following() {
				if there, here := protocol.MustEncode(s.log.State), protocol.MustEncode(g.state); string(there) != string(here) {
					rt.Fatalf("the log has %s\nthe client %s", there, here)
				}
			}
		}
		g.waits(grace)
		for _, w := range g.codec.waiting {
			if w.send != nil || !w.ends {
				rt.Fatalf("%s has no answer", w.cmd.Command)
			}
		}
	})
}
