package agentloop

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// history returns each turn of the history: its message and its end.
func (g *clientHarness) history(t *testing.T) string {
	t.Helper()
	var tr protocol.Transcript
	for _, line := range resultOfHistory(g).Events {
		var e protocol.Event
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		if _, err := tr.Apply(&e); err != nil {
			t.Fatal(err)
		}
	}
	var list []string
	for _, turn := range tr.Turns {
		text := ""
		for _, it := range turn.Items {
			text += string(it.Text)
		}
		list = append(list, fmt.Sprintf("%s: %s (%s)", turn.Message.Text, text, turn.End.Reason))
	}
	return strings.Join(list, "; ")
}

// AL-24: history survives a reconnect, and a turn that the server repeats from its start is the
// same turn.
func TestWhatWasSaidOutlivesAReconnect(t *testing.T) {
	echo := func(text string) string {
		return response(fmt.Sprintf(`{"type":"message","role":"user","content":[{"type":"input_text","text":%q}]}`,
			text))
	}
	says := func(id, text string) string {
		return response(fmt.Sprintf(`{"id":%q,"type":"message","role":"assistant","content":[{"type":"output_text","text":%q}]}`, id, text))
	}
	for _, c := range []struct {
		name        string
		frames      []string
		past, turn  string // history, and the text of the turn under way
		same, fresh bool   // turn and request keep their ids
	}{
		{
			"the turn under way is repeated",
			[]string{loads(true), echo("two"), says("x", "half a "), request},
			"one: first (completed)", "half a ", true, false,
		},
		{"nothing is repeated", nil, "one: first (completed); two: half (error)", "", false, false},
		{
			"another turn is sent",
			[]string{loads(true), echo("three"), says("y", "new")},
			"one: first (completed); two: half (error)", "new", false, true,
		},
		{
			"the agent goes on without a word of whose turn it is",
			[]string{says("y", "rest")},
			"one: first (completed); two: half (error)", "rest", false, true,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			memory := new(codec.ClientState)
			g := newAgentctlHarness(t, memory)
			g.send(protocol.DoSend, protocol.SendData{Text: "one"})
			g.receive(loads(true), echo("one"), says("a", "first"), loads(false))
			g.send(protocol.DoSend, protocol.SendData{Text: "two"})
			g.receive(loads(true), echo("two"), says("b", "half"), request)
			before, asked := g.state.Turn, g.state.Approvals[0].Request
			at := protocol.Position{Epoch: g.codec.log.Epoch, Seq: g.state.Seq}

			again := resumeClientHarness(t, agentctlOptions(memory), &at, c.frames...)
			var r protocol.SubscribeResult
			if err := json.Unmarshal(again.answer().Result, &r); err != nil || r.Mode != protocol.ModeReset ||
				r.Reason != protocol.ResetResubscribed {
				t.Fatalf("attached %+v", r)
			}
			if got := again.history(t); got != c.past {
				t.Errorf("history: %s", got)
			}
			text := ""
			for _, turn := range again.transcript.Turns {
				for _, it := range turn.Items {
					text += string(it.Text)
				}
			}
			if text != c.turn {
				t.Errorf("the turn says %q", text)
			}
			now := again.state.Turn
			if c.same && (now == nil || now.Turn != before.Turn || now.Message.MessageID != before.Message.MessageID ||
				again.state.Approvals[0].Request != asked) {
				t.Errorf("turn %+v, was %+v; pending %+v, was %s", now, before, again.state.Approvals, asked)
			}
			if c.fresh && (now == nil || now.Turn == before.Turn) {
				t.Errorf("turn %+v", now)
			}
			if !c.same && !c.fresh && now != nil {
				t.Errorf("turn %+v", now)
			}
			if again.state.Turns != strings.Count(c.past, ";")+1 {
				t.Errorf("%d turns ended", again.state.Turns)
			}
		})
	}
}

// A decision before a reconnect, which the server does not repeat, keeps its place: after the same
// text and calls.
func TestADecisionOutlivesAReconnect(t *testing.T) {
	words := []string{"before ", "after é"}
	turn := func(between ...string) []string {
		frames := []string{
			loads(true), response(`{"type":"message","role":"user","content":"go"}`),
			response(`{"id":"c1","type":"function_call","call_id":"c1","name":"ls","arguments":"{}"}`),
			response(`{"id":"p","type":"message","role":"assistant","content":"` + words[0] + `"}`),
		}
		return append(append(frames, between...),
			response(`{"id":"p","type":"message","role":"assistant","content":"`+words[1]+`"}`))
	}
	memory := new(codec.ClientState)
	g := newAgentctlHarness(t, memory)
	g.send(protocol.DoSend, protocol.SendData{Text: "go"})
	g.receive(turn(request)[:5]...)
	g.send(protocol.DoApprove, protocol.ApproveData{Decision: protocol.Deny, Reason: "no"})
	g.advance(rejectTimeout)
	g.receive(turn()[4:]...)
	want := string(protocol.MustEncode(g.transcript.Turns[0].Items))
	at := protocol.Position{Epoch: g.codec.log.Epoch, Seq: g.state.Seq}
	again := resumeClientHarness(t, agentctlOptions(memory), &at, turn()...)
	if got := string(protocol.MustEncode(again.transcript.Turns[0].Items)); !strings.Contains(want, `"denied"`) ||
		shape(t, got) != shape(t, want) {
		t.Errorf("\n%s\nwas\n%s", shape(t, got), shape(t, want))
	}
	whole := resumeClientHarness(t, agentctlOptions(memory), &protocol.Position{Epoch: "older", Seq: 1}, loads(true),
		response(`{"type":"message","role":"user","content":"go"}`),
		response(`{"id":"c1","type":"function_call","call_id":"c1","name":"ls","arguments":"{}"}`),
		response(`{"id":"p","type":"message","role":"assistant","content":"`+words[0]+words[1]+`"}`), loads(false))
	if repeated := string(protocol.MustEncode(resultOfHistory(whole).Events)); whole.state.Turn != nil ||
		strings.Count(repeated, `"denied"`) != 1 {
		t.Errorf("repeated at once: %s", repeated)
	}
}

// shape returns items without times.
func shape(t *testing.T, raw string) string {
	var items []struct {
		Kind     string
		Text     string
		Approval *protocol.Approval
		Resolved *protocol.ApprovalResolvedData
	}
	if err := json.Unmarshal([]byte(raw), &items); err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, it := range items {
		line := it.Kind + " " + it.Text
		if it.Resolved != nil {
			line += it.Approval.Command + " " + string(it.Resolved.Outcome) + " " + it.Resolved.Reason
		}
		list = append(list, line)
	}
	return strings.Join(list, "\n")
}

// The client waits for a repeated turn on a slow connection, for a bounded time.
func TestASlowServerIsWaitedForAfterAReconnect(t *testing.T) {
	memory := new(codec.ClientState)
	g := newAgentctlHarness(t, memory)
	g.send(protocol.DoSend, protocol.SendData{Text: "go"})
	g.receive(loads(true), echoOf("go"), response(`{"id":"p","type":"message","role":"assistant","content":"half"}`))
	turn := g.state.Turn.Turn

	mint := ids()
	g.codec = newClient(codec.ClientOptions{
		URL: "ws://x", Name: "ada",
		ID: func(p string) string { return mint(p) + "again" }, Resume: memory, PeerIsAgentctl: true,
	})
	g.handleOutput(g.codec.Open(g.now))
	g.send(protocol.DoSubscribe, protocol.SubscribeData{Position: &protocol.Position{Epoch: "older", Seq: 1}})
	before := len(g.answers)
	g.advance(1500 * time.Millisecond)
	if len(g.answers) != before {
		t.Fatal("it did not wait")
	}
	g.receive(loads(true), response(`{"type":"message","role":"user","content":"go"}`),
		response(`{"id":"p","type":"message","role":"assistant","content":"half and more"}`))
	g.advance(moreTimeout)
	if now := g.state.Turn; now == nil || now.Turn != turn || g.state.Turns != 0 {
		t.Errorf("the turn %+v, was %s; %d ended", now, turn, g.state.Turns)
	}
}
