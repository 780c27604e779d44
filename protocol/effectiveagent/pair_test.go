package effectiveagent

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentctl/internal/dev/thorough"
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

func init() { thorough.Checks(30, 100) }

// A codecPair connects a serverHarness and a clientHarness.
type codecPair struct {
	*serverHarness
	guest *clientHarness
}

func newCodecPair(t testing.TB) *codecPair {
	return &codecPair{newServerHarness(t), newClientHarness(t, nil)}
}

// settle passes frames both ways until none is left.
func (p *codecPair) settle() {
	p.guest.t.Helper()
	for {
		up, down := p.guest.flush(), p.serverHarness.flush()
		if len(up)+len(down) == 0 {
			return
		}
		for _, f := range up {
			p.serverHarness.handleOutput(p.serverHarness.codec.Foreign(start, codec.Frame{Data: []byte(f)}))
		}
		p.guest.receive(down...)
	}
}

// send passes a command to the client codec and settles.
func (p *codecPair) send(verb protocol.Verb, session string, data any) string {
	p.guest.t.Helper()
	id := p.guest.send(verb, session, data)
	p.settle()
	return id
}

// publish records an event at the server and settles.
func (p *codecPair) publish(session string, typ protocol.Type, turn string, data any) {
	p.guest.t.Helper()
	p.deliver(p.newEvent(session, typ, turn, data))
}

func (p *codecPair) deliver(line []byte) {
	p.guest.t.Helper()
	p.serverHarness.handleOutput(p.serverHarness.codec.Native(start, line))
	p.settle()
}

// A session followed from its beginning is equal at both ends.
func TestASessionCrossesWhole(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := newCodecPair(t)
		p.send(protocol.DoSubscribe, "s1", nil)
		truth := &protocol.Transcript{}
		for _, e := range history(rt) {
			line := p.record(&e)
			if _, err := truth.Apply(&e); err != nil {
				rt.Fatal(err)
			}
			p.deliver(line)
		}
		for _, both := range [][2]any{{p.states["s1"], p.guest.state}, {truth, p.guest.transcript}} {
			if there, here := protocol.MustEncode(both[0]),
				protocol.MustEncode(both[1]); string(there) != string(here) {
				rt.Fatalf("at the server %s\nat the client %s", there, here)
			}
		}
	})
}

// history draws the events of a legal session, of every type.
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
		add(protocol.MessageUser, protocol.MessageUserData{Message: protocol.Message{
			MessageID: turn,
			Text:      texts.Draw(t, "text"), By: by,
		}})
		for range rapid.IntRange(0, 40).Draw(t, "events") {
			kind := rapid.SampledFrom(protocol.EventTypes).Draw(t, "type")
			switch {
			case kind.Ephemeral, kind.Type == protocol.MessageUser, kind.Type == protocol.TurnEnded,
				kind.Type == protocol.SessionCreated:
				continue
			}
			add(kind.Type, generateData(t, kind.Type, texts.Draw(t, "text")))
		}
		add(protocol.TurnEnded, protocol.TurnEndedData{Reason: protocol.ReasonCompleted, DurationMS: 5})
		turn = ""
		if rapid.Bool().Draw(t, "between") {
			add(protocol.QueueAdded, generateData(t, protocol.QueueAdded, "later"))
		}
	}
	return events
}

// generateData draws the data of an event.
func generateData(t *rapid.T, typ protocol.Type, text string) any {
	id := fmt.Sprint(rapid.IntRange(0, 2).Draw(t, "id"))
	fields := map[string]any{
		"part": id, "tool": id, "text": text, "message": text, "request": id, "kind": "command", "title": text,
		"options":    []any{},
		"message_id": id, "index": rapid.IntRange(0, 2).Draw(t,
			"index"), "id": id, "reason": "user", "holds": []string{id}, "task": id,
		"tasks": []protocol.Task{
			{ID: "0", Title: text},
			{ID: "1"},
		}, "tokens": 7, "percent": 7.5, "input": 3, "name": text, "level": "info",
		"source": "acp", "data": map[string]any{"x": []any{
			1, nil,
			text,
		}}, "status": "completed", "outcome": "allowed", "rule": protocol.Rule{ID: id},
		"parts": []protocol.JoinedPart{
			{Part: id, Kind: protocol.KindText, Text: text},
			{Part: id, Kind: protocol.KindOutput, Text: text},
		},
	}
	data := protocol.EventTypes[eventTypeIndex(typ)].New()
	if typ == protocol.AggregateStarted || typ == protocol.AggregateCompleted || typ == protocol.PipelineCompleted {
		delete(fields, "tasks")
	}
	for name, v := range fields { // each field of this type
		one, _ := json.Marshal(map[string]any{name: v})
		_ = json.Unmarshal(one, data)
	}
	return data
}

func eventTypeIndex(typ protocol.Type) int {
	for i, t := range protocol.EventTypes {
		if t.Type == typ {
			return i
		}
	}
	panic(typ)
}

// A command to agentctl's server has its key, and the server's answer is its result.
func TestCommandsCrossToAServerOfOurKind(t *testing.T) {
	p := newCodecPair(t)
	p.send(protocol.DoSubscribe, "s1", nil)

	p.results[protocol.DoSend] = protocol.SendResult{Status: protocol.SendStarted, MessageID: "m1", Turn: "t1", Seq: 9}
	send := p.send(protocol.DoSend, "s1",
		protocol.SendData{Text: "why?", Parts: []protocol.Part{{Type: "file", Name: "a"}}})
	c := p.commands[len(p.commands)-1]
	if c.Command != protocol.DoSend || c.Key != "key-2" || string(c.Data) != `{"text":"why?","parts":[{"type":"file","name":"a"}],"client_message_id":"key-2"}` {
		t.Fatalf("the server got %s %s %s", c.Command, c.Key, c.Data)
	}
	message := func(id, key string) protocol.Message {
		return protocol.Message{MessageID: id, Text: "why?", ClientMessageID: key}
	}
	var started protocol.SendResult
	if p.guest.result(send, &started); started != (protocol.SendResult{
		Status: protocol.SendStarted, MessageID: "m1", Turn: "t1",
	}) {
		t.Errorf("send: %+v", started)
	}
	p.publish("s1", protocol.MessageUser, "t1", protocol.MessageUserData{Message: message("m1", "key-2")})

	p.silent[protocol.DoSend] = true // the event comes before the answer
	send = p.send(protocol.DoSend, "s1", protocol.SendData{Text: "why?"})
	p.publish("s1", protocol.QueueAdded, "", protocol.QueueAddedData{Message: message("m2", "key-3")})
	var queued protocol.SendResult
	if p.guest.result(send, &queued); queued.Status != protocol.SendQueued || *queued.Index != 0 ||
		queued.MessageID != "m2" {
		t.Errorf("send: %+v", queued)
	}

	p.publish("s1", protocol.ApprovalRequested, "t1",
		protocol.Approval{Request: "a1", Kind: protocol.ApproveCommand, Options: []protocol.Option{}})
	p.results[protocol.DoApprove] = protocol.ApproveResult{
		Request: "a1", Outcome: protocol.Denied, Decision: protocol.Deny,
	}
	approve := p.send(protocol.DoApprove, "s1", protocol.ApproveData{Decision: protocol.Deny})
	if c := p.commands[len(p.commands)-1]; c.Command != protocol.DoApprove ||
		string(c.Data) != `{"request":"a1","decision":"deny"}` {
		t.Errorf("the server got %s %s", c.Command, c.Data)
	}
	p.publish("s1", protocol.ApprovalResolved, "t1",
		protocol.ApprovalResolvedData{Request: "a1", Outcome: protocol.Denied, Decision: protocol.Deny})
	var decided protocol.ApproveResult
	if p.guest.result(approve, &decided); decided.Outcome != protocol.Denied {
		t.Errorf("approve: %+v", decided)
	}
	p.errors[protocol.DoApprove] = &protocol.Error{
		Code: protocol.CodeConflict, Message: "grace has already decided",
		Winner: &protocol.Winner{By: protocol.Actor{Name: "grace"}, Outcome: protocol.Denied},
	}
	// The older send is still pending: the error is not its.
	late := p.send(protocol.DoSend, "s1", protocol.SendData{Text: "again"})
	if id := p.send(protocol.DoApprove, "s1",
		protocol.ApproveData{Request: "a1", Decision: protocol.Deny}); p.guest.code(id) != protocol.CodeConflict ||
		p.guest.answers[id].Error.Winner.By.Name != "grace" {
		t.Errorf("approve: %v", p.guest.answers[id])
	}
	if a, ok := p.guest.answers[late]; ok {
		t.Errorf("send: %+v", a)
	}

	p.results[protocol.DoQueueHold] = protocol.QueueHoldResult{Hold: "h1"}
	p.results[protocol.DoQueueRemove] = protocol.QueueRemoveResult{Removed: true}
	p.results[protocol.DoQueueRelease] = protocol.QueueReleaseResult{Released: []string{"h1"}}
	hold := p.send(protocol.DoQueueHold, "s1", nil)
	p.publish("s1", protocol.QueueHeld, "", protocol.Hold{ID: "h1", Reason: protocol.HoldUser})
	remove := p.send(protocol.DoQueueRemove, "s1", protocol.QueueRemoveData{MessageID: "m2"})
	p.publish("s1", protocol.QueueRemoved, "", protocol.QueueRemovedData{MessageID: "m2", Reason: protocol.RemovedUser})
	release := p.send(protocol.DoQueueRelease, "s1", nil)
	p.publish("s1", protocol.QueueReleased, "", protocol.QueueReleasedData{Holds: []string{"h1"}})
	for id, want := range map[string]string{
		hold: `{"hold":"h1"}`, remove: `{"removed":true}`,
		release: `{"released":["h1"]}`,
	} {
		if a := p.guest.answers[id]; string(a.Result) != want {
			t.Errorf("answered %s %v, want %s", a.Result, a.Error, want)
		}
	}

	p.results[protocol.DoInterrupt] = protocol.InterruptResult{Interrupted: true, Turn: "t1"}
	interrupt := p.send(protocol.DoInterrupt, "s1", protocol.InterruptData{Turn: "t1"})
	p.publish("s1", protocol.TurnEnded, "t1", protocol.TurnEndedData{Reason: protocol.ReasonInterrupted})
	for id, want := range map[string]string{
		interrupt: `{"interrupted":true,"turn":"t1"}`, p.send(protocol.DoInterrupt, "s1", nil): `{"interrupted":false}`,
	} {
		if a := p.guest.answers[id]; string(a.Result) != want {
			t.Errorf("answered %s %v, want %s", a.Result, a.Error, want)
		}
	}
}

// After an unsubscribe, pending commands do not wait for events.
func TestACommandEndsWithTheFollowing(t *testing.T) {
	p := newCodecPair(t)
	p.send(protocol.DoSubscribe, "s1", nil)
	p.publish("s1", protocol.MessageUser, "t1",
		protocol.MessageUserData{Message: protocol.Message{MessageID: "m1", Text: "why?"}})
	p.silent[protocol.DoInterrupt], p.silent[protocol.DoApprove] = true, true
	interrupt := p.send(protocol.DoInterrupt, "s1", nil)
	approve := p.send(protocol.DoApprove, "s1", protocol.ApproveData{Request: "a1", Decision: protocol.AllowOnce})
	p.guest.advance(errorTimeout)
	if len(p.guest.answers) != 1 {
		t.Errorf("answered without evidence: %+v", p.guest.answers)
	}
	p.send(protocol.DoUnsubscribe, "s1", nil)
	if p.guest.code(interrupt) != protocol.CodeNotSubscribed || p.guest.code(approve) != protocol.CodeNotSubscribed {
		t.Errorf("answered %v and %v", p.guest.answers[interrupt], p.guest.answers[approve])
	}
}

// A client that subscribes during a turn gets the rest of it under the same id, and can end it.
func TestAClientJoinsInTheMiddleOfATurn(t *testing.T) {
	p := newCodecPair(t)
	p.newEvent("s1", protocol.MessageUser, "t1",
		protocol.MessageUserData{Message: protocol.Message{MessageID: "m1", Text: "why?"}})
	p.send(protocol.DoSubscribe, "s1", nil)
	p.publish("s1", protocol.TextDelta, "t1", protocol.PartDeltaData{Part: "p1", Text: "because"})
	if turn := p.guest.state.Turn; turn == nil || turn.Turn != "t1" ||
		string(p.guest.transcript.Turns[0].Items[0].Text) != "because" {
		t.Fatalf("turn %+v", turn)
	}
	p.publish("s1", protocol.TurnEnded, "t1", protocol.TurnEndedData{Reason: protocol.ReasonCompleted})
	if p.guest.state.Turn != nil || p.guest.state.Last.Reason != protocol.ReasonCompleted {
		t.Errorf("ended %+v", p.guest.state.Last)
	}
}

// After a reconnect, agentctl's server resumes after the last activity, without a gap or a repeat.
func TestAReconnectGoesOnFromTheLastActivity(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := newCodecPair(t)
		p.send(protocol.DoSubscribe, "s1", nil)
		events := history(rt)
		first, second := rapid.IntRange(1, len(events)).Draw(rt, "first"), rapid.IntRange(1, len(events)).Draw(rt,
			"second")
		truth := &protocol.Transcript{}
		for i := range events {
			line := p.record(&events[i])
			if _, err := truth.Apply(&events[i]); err != nil {
				rt.Fatal(err)
			}
			if i < min(first, second) {
				p.deliver(line)
			} // the client misses later ones
			if i != max(first, second)-1 {
				continue
			}
			was, at := p.guest, protocol.Position{Epoch: p.guest.codec.sessions["s1"].log.Epoch, Seq: p.guest.state.Seq}
			again := &codecPair{newServerHarness(t), newClientHarness(t, &codec.ClientState{Value: was.codec.state})}
			again.fakeServer.states, again.fakeServer.logs = p.fakeServer.states, p.fakeServer.logs
			again.guest.state, again.guest.transcript = was.state, was.transcript
			p = again
			id := p.send(protocol.DoSubscribe, "s1", protocol.SubscribeData{Position: &at})
			var r protocol.SubscribeResult
			if p.guest.result(id, &r); r.Mode != protocol.ModeResume || r.Reason != protocol.ResumeReplayed ||
				r.After != at {
				rt.Fatalf("attached %+v after %v", r, at)
			}
			first, second = len(events), len(events)
		}
		for _, both := range [][2]any{{p.states["s1"], p.guest.state}, {truth, p.guest.transcript}} {
			if there, here := protocol.MustEncode(both[0]),
				protocol.MustEncode(both[1]); string(there) != string(here) {
				rt.Fatalf("at the server %s\nat the client %s", there, here)
			}
		}
	})
}

// Commands wait for the resume, for a bounded time.
func TestCommandsWaitForHowASessionGoesOn(t *testing.T) {
	p := newCodecPair(t)
	p.send(protocol.DoSubscribe, "s1", nil)
	p.publish("s1", protocol.MessageUser, "t1",
		protocol.MessageUserData{Message: protocol.Message{MessageID: "m1", Text: "why?"}})
	var g *clientHarness // at a third-party server
	var send, look string
	for n := range maxResumeAttempts {
		g = newClientHarness(t, &codec.ClientState{Value: p.guest.codec.state})
		send, look = g.send(protocol.DoSend, "s1", protocol.SendData{Text: "x"}), g.send(protocol.DoSnapshot, "s1", nil)
		if sent := g.flush(); len(sent) != 1 || sent[0] != `{"type":"subscribe","agentRuntimeId":"s1","metadata":{"agentctl":{"after":"9f3ac1:1"}}}` {
			t.Fatalf("sent %s", sent)
		}
		if g.now = g.now.Add(resumeTimeout); !g.wake.Equal(g.now) {
			t.Fatalf("connection %d: woken at %s", n, g.wake)
		}
		out := g.codec.Wake(g.now)
		if last := n == maxResumeAttempts-1; (out.Close == nil) != last { // the connection may be at fault
			t.Fatalf("connection %d: closed %v", n, out.Close)
		}
		out.Close = nil
		g.handleOutput(out)
	}
	if sent := g.flush(); len(sent) != 1 || !strings.Contains(sent[0], `"type":"send"`) {
		t.Fatalf("sent %s", sent)
	}
	g.advance(errorTimeout)
	g.receive(strings.Replace(activityFrame(`{"type":"status","payload":"busy"}`), `"r"`, `"s1"`, 1))
	if g.answers[send].Error != nil || g.answers[look].Error != nil || len(g.answers) < 2 {
		t.Errorf("answered %+v", g.answers)
	}
	if last := g.codec.sessions["s1"].log.State.Last; last == nil || last.Turn != "t1" ||
		last.Reason != protocol.ReasonError {
		t.Errorf("the turn before ended %+v", last)
	}
}

// A turn over a reconnect to a server with another log becomes two turns, since events between them
// are unknown.
func TestATurnGoesOnAfterAReconnect(t *testing.T) {
	p := newCodecPair(t)
	p.send(protocol.DoSubscribe, "s1", nil)
	p.publish("s1", protocol.MessageUser, "t1",
		protocol.MessageUserData{Message: protocol.Message{MessageID: "m1", Text: "why?"}})

	again := &codecPair{newServerHarness(t), newClientHarness(t, &codec.ClientState{Value: p.guest.codec.state})}
	again.epoch, again.states["s1"], again.logs["s1"] = "e0e0e0", p.states["s1"], p.logs["s1"]
	again.send(protocol.DoSubscribe, "s1", nil)
	again.publish("s1", protocol.TextDelta, "t1", protocol.PartDeltaData{Part: "p1", Text: "because"})
	turn := again.guest.state.Turn
	if turn == nil || turn.Turn == "t1" || again.guest.state.Last.Turn != "t1" {
		t.Fatalf("turn %+v", turn)
	}
	again.results[protocol.DoInterrupt] = protocol.InterruptResult{Interrupted: true, Turn: "t1"}
	interrupt := again.send(protocol.DoInterrupt, "s1", nil)
	if c := again.commands[len(again.commands)-1]; string(c.Data) != `{"turn":"t1"}` {
		t.Errorf("interrupts %s", c.Data)
	}
	again.publish("s1", protocol.TurnEnded, "t1", protocol.TurnEndedData{Reason: protocol.ReasonInterrupted})
	var r protocol.InterruptResult
	if again.guest.result(interrupt, &r); !r.Interrupted || r.Turn != turn.Turn || again.guest.state.Turn != nil {
		t.Errorf("interrupted %+v", r)
	}
}

// A late report of a message by agentctl's server does not repeat it.
func TestALateMessageIsNotASecondOne(t *testing.T) {
	p := newCodecPair(t)
	p.send(protocol.DoSubscribe, "s1", nil)
	p.send(protocol.DoSend, "s1", protocol.SendData{Text: "why?"})
	p.guest.advance(errorTimeout)
	p.publish("s1", protocol.MessageUser, "t1",
		protocol.MessageUserData{Message: protocol.Message{MessageID: "m1", Text: "why?", ClientMessageID: "key-2"}})
	p.publish("s1", protocol.TurnEnded, "t1", protocol.TurnEndedData{Reason: protocol.ReasonCompleted})
	if p.guest.state.Turns != 1 || len(p.guest.transcript.Turns) != 1 || p.guest.transcript.Turns[0].End == nil {
		t.Errorf("transcript %s", protocol.MustEncode(p.guest.transcript))
	}
}

// EA-15 over both ends: an error of the server keeps its code.
func TestARefusalCrosses(t *testing.T) {
	p := newCodecPair(t)
	if id := p.send(protocol.DoSend, "gone", protocol.SendData{Text: "x"}); p.guest.code(id) != protocol.CodeNoSession {
		t.Errorf("send: %v", p.guest.answers[id])
	}
	p.send(protocol.DoSubscribe, "gone", nil)
	if id := p.send(protocol.DoSubscribe, "gone", nil); p.guest.code(id) != protocol.CodeNoSession {
		t.Errorf("subscribe: %v", p.guest.answers[id])
	}
}

// For events in any order, the client stays consistent, every send is answered, and memory is
// bounded.
func TestNothingOutOfOrderEndsAnything(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := newFollowingClient(t)
		some := func(list ...string) string { return rapid.SampledFrom(list).Draw(rt, "some") }
		for range rapid.IntRange(1, 60).Draw(rt, "frames") {
			switch rapid.IntRange(0, 9).Draw(rt, "what") {
			case 0:
				g.send(protocol.DoSend, "r", protocol.SendData{Text: "x", ClientMessageID: some("", "m0", "m1")})
			case 1:
				g.send(protocol.Verb(some("interrupt", "approve", "queue.hold", "queue.release", "history",
					"snapshot")), "r", nil)
			case 2:
				g.send(protocol.Verb(some("subscribe", "unsubscribe")), "r", nil)
			case 3:
				g.advance(time.Duration(rapid.IntRange(0, 6000).Draw(rt, "ms")) * time.Millisecond)
			case 4:
				g.receive(`{"type":"error","code":"` + some(string(sendFailed), string(subscribeFailed), "x") +
					`","message":"` + some("r", "") + `"}`)
			case 5:
				g.receive(activityFrame(`{"id":"` + some("m0", "m1") + `","type":"` + some("input", "output", "error",
					"status", "x") + `","payload":` + some(`"idle"`, `{}`, `7`) + `}`))
			default:
				typ := rapid.SampledFrom(protocol.EventTypes).Draw(rt, "type").Type
				e := note{Event: typ, Turn: some("", "t0", "t1", "t2")}
				data := protocol.MustEncode(generateData(rt, typ, "x"))
				if m, ok := generateData(rt, typ, "x").(*protocol.MessageUserData); ok {
					m.ClientMessageID = some("", "m0", "m1")
					data = protocol.MustEncode(m)
				}
				g.receive(string(protocol.MustEncode(activityMessage{
					typeActivity, "r",
					activity{Payload: data, Metadata: &metadata{Note: &e}},
				})))
			}
			if s := g.codec.sessions["r"]; s != nil && s.log.Following() {
				if there, here := protocol.MustEncode(s.log.State),
					protocol.MustEncode(g.state); string(there) != string(here) {
					rt.Fatalf("the log has %s\nthe client %s", there, here)
				}
			}
		}
		g.advance(errorTimeout)
		g.advance(answerTimeout) // ends resumes, after which commands are sent
		g.advance(errorTimeout)
		g.advance(answerTimeout)
		for _, w := range g.codec.pending {
			rt.Fatalf("%s has no answer", w.command.Command)
		}
	})
}
