package client

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"agentctl/internal/dev/agentlooptest"
	"agentctl/internal/dev/codectest"
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// historyOf returns each turn of the history: its message and its end.
func historyOf(g *agentlooptest.Client, t *testing.T) string {
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
		return agentlooptest.Response(fmt.Sprintf(`{"type":"message","role":"user","content":[{"type":"input_text","text":%q}]}`,
			text))
	}
	says := func(id, text string) string {
		return agentlooptest.Response(fmt.Sprintf(`{"id":%q,"type":"message","role":"assistant","content":[{"type":"output_text","text":%q}]}`, id, text))
	}
	for _, c := range []struct {
		name        string
		frames      []string
		past, turn  string // history, and the text of the current turn
		same, fresh bool   // turn and request keep their ids
	}{
		{
			"the current turn is repeated",
			[]string{agentlooptest.Loads(true), echo("two"), says("x", "half a "), agentlooptest.Request},
			"one: first (completed)", "half a ", true, false,
		},
		{"nothing is repeated", nil, "one: first (completed); two: half (error)", "", false, false},
		{
			"another turn is sent",
			[]string{agentlooptest.Loads(true), echo("three"), says("y", "new")},
			"one: first (completed); two: half (error)", "new", false, true,
		},
		{
			"the agent continues without naming the turn",
			[]string{says("y", "rest")},
			"one: first (completed); two: half (error)", "rest", false, true,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			memory := new(codec.ClientState)
			g := newAgentctlHarness(t, memory)
			g.Send(protocol.DoSend, protocol.SendData{Text: "one"})
			g.Receive(agentlooptest.Loads(true), echo("one"), says("a", "first"), agentlooptest.Loads(false))
			g.Send(protocol.DoSend, protocol.SendData{Text: "two"})
			g.Receive(agentlooptest.Loads(true), echo("two"), says("b", "half"), agentlooptest.Request)
			before, asked := g.State.Turn, g.State.Approvals[0].Request
			at := protocol.Position{Epoch: codecOf(g).session.log.Epoch, Seq: g.State.Seq}

			again := resumeClientHarness(t, agentlooptest.AgentctlOptions(memory), &at, c.frames...)
			var r protocol.SubscribeResult
			if err := json.Unmarshal(again.Answer().Result, &r); err != nil || r.Mode != protocol.ModeReset ||
				r.Reason != protocol.ResetResubscribed {
				t.Fatalf("attached %+v", r)
			}
			if got := historyOf(again, t); got != c.past {
				t.Errorf("history: %s", got)
			}
			text := ""
			for _, turn := range again.Transcript.Turns {
				for _, it := range turn.Items {
					text += string(it.Text)
				}
			}
			if text != c.turn {
				t.Errorf("the turn says %q", text)
			}
			now := again.State.Turn
			if c.same && (now == nil || now.Turn != before.Turn || now.Message.MessageID != before.Message.MessageID ||
				again.State.Approvals[0].Request != asked) {
				t.Errorf("turn %+v, was %+v; pending %+v, was %s", now, before, again.State.Approvals, asked)
			}
			if c.fresh && (now == nil || now.Turn == before.Turn) {
				t.Errorf("turn %+v", now)
			}
			if !c.same && !c.fresh && now != nil {
				t.Errorf("turn %+v", now)
			}
			if again.State.Turns != strings.Count(c.past, ";")+1 {
				t.Errorf("%d turns ended", again.State.Turns)
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
			agentlooptest.Loads(true), agentlooptest.Response(`{"type":"message","role":"user","content":"go"}`),
			agentlooptest.Response(`{"id":"c1","type":"function_call","call_id":"c1","name":"ls","arguments":"{}"}`),
			agentlooptest.Response(`{"id":"p","type":"message","role":"assistant","content":"` + words[0] + `"}`),
		}
		return append(append(frames, between...),
			agentlooptest.Response(`{"id":"p","type":"message","role":"assistant","content":"`+words[1]+`"}`))
	}
	memory := new(codec.ClientState)
	g := newAgentctlHarness(t, memory)
	g.Send(protocol.DoSend, protocol.SendData{Text: "go"})
	g.Receive(turn(agentlooptest.Request)[:5]...)
	g.Send(protocol.DoApprove, protocol.ApproveData{Decision: protocol.Deny, Reason: "no"})
	g.Advance(rejectTimeout)
	g.Receive(turn()[4:]...)
	want := string(protocol.MustEncode(g.Transcript.Turns[0].Items))
	at := protocol.Position{Epoch: codecOf(g).session.log.Epoch, Seq: g.State.Seq}
	again := resumeClientHarness(t, agentlooptest.AgentctlOptions(memory), &at, turn()...)
	if got := string(protocol.MustEncode(again.Transcript.Turns[0].Items)); !strings.Contains(want, `"denied"`) ||
		shape(t, got) != shape(t, want) {
		t.Errorf("\n%s\nwas\n%s", shape(t, got), shape(t, want))
	}
	whole := resumeClientHarness(t, agentlooptest.AgentctlOptions(memory), &protocol.Position{Epoch: "older", Seq: 1}, agentlooptest.Loads(true),
		agentlooptest.Response(`{"type":"message","role":"user","content":"go"}`),
		agentlooptest.Response(`{"id":"c1","type":"function_call","call_id":"c1","name":"ls","arguments":"{}"}`),
		agentlooptest.Response(`{"id":"p","type":"message","role":"assistant","content":"`+words[0]+words[1]+`"}`), agentlooptest.Loads(false))
	if repeated := string(protocol.MustEncode(resultOfHistory(whole).Events)); whole.State.Turn != nil ||
		strings.Count(repeated, `"denied"`) != 1 {
		t.Errorf("repeated immediately: %s", repeated)
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
	g.Send(protocol.DoSend, protocol.SendData{Text: "go"})
	g.Receive(agentlooptest.Loads(true), echoOf("go"), agentlooptest.Response(`{"id":"p","type":"message","role":"assistant","content":"half"}`))
	turn := g.State.Turn.Turn

	mint := codectest.IDs()
	g.Codec = New(codec.ClientOptions{
		URL: "ws://x", Name: "ada",
		ID: func(p string) string { return mint(p) + "again" }, Resume: memory, PeerIsAgentctl: true,
	})
	g.Deliver(g.Codec.Open(g.Now))
	g.Send(protocol.DoSubscribe, protocol.SubscribeData{Position: &protocol.Position{Epoch: "older", Seq: 1}})
	before := len(g.Answers)
	g.Advance(1500 * time.Millisecond)
	if len(g.Answers) != before {
		t.Fatal("it did not wait")
	}
	g.Receive(agentlooptest.Loads(true), agentlooptest.Response(`{"type":"message","role":"user","content":"go"}`),
		agentlooptest.Response(`{"id":"p","type":"message","role":"assistant","content":"half and more"}`))
	g.Advance(moreTimeout)
	if now := g.State.Turn; now == nil || now.Turn != turn || g.State.Turns != 0 {
		t.Errorf("the turn %+v, was %s; %d ended", now, turn, g.State.Turns)
	}
}
