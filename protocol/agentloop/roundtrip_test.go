package agentloop

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentctl/protocol"
	"agentctl/protocol/bridge"
)

// A street joins a house and a guest: what either says, the other hears.
type street struct {
	*house
	guest  *guest
	native protocol.Transcript // of the house
}

func newStreet(t *testing.T) *street {
	s := &street{house: newHouse(t, "", true), guest: newGuest(t, "ws://x", nil)}
	s.answer[protocol.DoApprove] = func(c *protocol.Command) any {
		var d protocol.ApproveData
		_ = json.Unmarshal(c.Data, &d)
		return protocol.ApproveResult{Request: d.Request, Decision: d.Decision}
	}
	return s
}

// carry carries what was said, both ways, until nobody says anything.
func (s *street) carry() {
	for len(s.said)+len(s.guest.said) > 0 {
		down, up := s.said, s.guest.said
		s.said, s.guest.said = nil, nil
		for _, m := range down {
			s.guest.hears(string(protocol.MustEncode(m)))
		}
		for _, m := range up {
			s.hears(string(protocol.MustEncode(m)))
		}
	}
}

// add records an event in the house, and lets the guest see what comes of it.
func (s *street) add(en bridge.Entry) {
	var out protocol.Output
	s.log.Add(&out, s.now, en)
	for _, line := range out.Native {
		e, _, err := protocol.DecodeIncoming(line)
		if err != nil {
			s.t.Fatal(err)
		}
		if _, err := s.native.Apply(e); err != nil {
			s.t.Fatal(err)
		}
	}
	s.give(out.Native)
	s.carry()
}

// A gist is what a turn says in either log: everything but what docs/dialects/agentloop.md calls lost.
type gist struct {
	Message   string
	Texts     []string
	Reasoning string
	Tools     []string
	Approvals []string
	Told      []string // in lines: notices, warnings, errors, what has no message of its own
	Reason    protocol.Reason
}

// told is an event as a line, as either end has it; empty: it is not told so.
func told(it *protocol.Item) string {
	e := &protocol.Event{Type: it.Type, Data: it.Data}
	if it.Type != protocol.ErrorRaised {
		return strings.TrimSpace(lineOf(e))
	}
	d := data[protocol.ErrorData](e)
	if d.Recoverable {
		return strings.TrimSpace("⚠️ " + d.Message)
	}
	return "error: " + strings.TrimPrefix(d.Message, inputFailed+": ")
}

func gistOf(turn *protocol.Turn) (g gist) {
	g.Message = turn.Message.Text
	for _, it := range turn.Items {
		switch it.Kind {
		case protocol.ItemEvent:
			if line := told(it); line != "" {
				g.Told = append(g.Told, line)
			}
		case protocol.ItemText:
			if len(it.Text) > 0 {
				g.Texts = append(g.Texts, it.Text.String())
			}
		case protocol.ItemReasoning:
			g.Reasoning += it.Text.String()
		case protocol.ItemTool:
			status := it.Tool.End.Status
			switch status {
			case protocol.ToolDenied, protocol.ToolUnknown:
				status = protocol.ToolCancelled
			}
			g.Tools = append(g.Tools, fmt.Sprintf("%s %s %s: %q %s %dms", it.ID, it.Tool.Name, it.Tool.Input, it.Text.String(), status, it.Tool.End.DurationMS))
		case protocol.ItemApproval:
			decision := protocol.Decision("")
			if it.Resolved != nil {
				decision = it.Resolved.Decision
			}
			g.Approvals = append(g.Approvals, it.Approval.Command+" "+string(decision)+" "+strings.Join(it.Approval.Explained, "|"))
		}
	}
	slices.Sort(g.Tools)
	g.Reason = turn.End.Reason
	switch {
	case g.Reason == protocol.ReasonInterrupted:
		g.Reason = protocol.ReasonCompleted
	case turn.End.Failed():
		g.Reason = protocol.ReasonError
	}
	return g
}

// AL-5 to AL-19, AL-22: any native history goes through both codecs, and what comes out says the same but for what is lost.
func TestHistoriesGoThroughBothEnds(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := newStreet(t)
		turns := rapid.IntRange(1, 3).Draw(r, "turns")
		for n := range turns {
			s.liveTurn(r, fmt.Sprintf("t%d", n+1))
			s.guest.now = s.now
			s.guest.later(time.Second)
		}
		if len(s.guest.transcript.Turns) != turns {
			r.Fatalf("%d turns, want %d", len(s.guest.transcript.Turns), turns)
		}
		for i, turn := range s.native.Turns {
			want, got := gistOf(turn), gistOf(s.guest.transcript.Turns[i])
			switch {
			case turn.End.Reason == protocol.ReasonInterrupted:
				want.Told = append(want.Told, "Interrupted.")
			case turn.End.Failed() && len(got.Told) == len(want.Told)+1: // where the agent told of no error at the end
				want.Told = append(want.Told, "error: the turn ended: "+string(turn.End.Reason))
			}
			if a, b := string(protocol.MustEncode(got)), string(protocol.MustEncode(want)); a != b {
				r.Fatalf("turn %d is\n%s\nwant\n%s", i, a, b)
			}
		}
		mine, theirs := s.guest.state, s.log.State
		if mine.Status() != protocol.Idle || len(mine.Approvals) != 0 || mine.Turns != theirs.Turns {
			r.Fatalf("state %+v", mine)
		}
		if a, b := string(protocol.MustEncode(mine.Context)), string(protocol.MustEncode(theirs.Context)); a != b {
			r.Fatalf("context %s, want %s", a, b)
		}
	})
}

// liveTurn lives through a turn of any events.
func (s *street) liveTurn(r *rapid.T, turn string) {
	in := func(typ protocol.Type, data any) { s.add(bridge.Entry{Type: typ, Turn: turn, Data: data}) }
	words := rapid.StringMatching(`[a-zé"\\<&⚠ \n]{1,12}`)
	calls, faulty := 0, false
	in(protocol.MessageUser, protocol.MessageUserData{Message: protocol.Message{MessageID: "m" + turn, Text: rapid.StringMatching(`[a-z ]{1,9}`).Draw(r, "message")}})
	in(protocol.TurnStarted, protocol.TurnStartedData{MessageID: "m" + turn})
	for range rapid.IntRange(0, 12).Draw(r, "steps") {
		text := words.Draw(r, "text")
		part := rapid.SampledFrom([]string{"p", "q"}).Draw(r, "part")
		step := rapid.IntRange(0, 9).Draw(r, "step")
		faulty = faulty && step > 5
		switch step {
		case 0, 1:
			in(protocol.TextDelta, protocol.PartDeltaData{Part: part, Text: text})
		case 2:
			in(protocol.ReasoningStart, protocol.PartStartData{Part: "r"})
			in(protocol.ReasoningDelta, protocol.PartDeltaData{Part: "r", Text: text})
			if rapid.Bool().Draw(r, "ends") {
				in(protocol.ReasoningEnd, protocol.PartEndData{Part: "r"})
			}
		case 3:
			in(protocol.Folded, protocol.FoldData{Parts: []protocol.FoldPart{
				{Part: part, Kind: protocol.KindText, Text: text}, {Part: "r", Kind: protocol.KindReasoning, Text: text},
			}})
		case 4:
			calls++
			s.liveTool(r, in, fmt.Sprintf("%s-c%d", turn, calls), text)
		case 5:
			calls++
			s.liveApproval(r, in, fmt.Sprintf("%s-a%d", turn, calls))
		case 6:
			in(protocol.ContextUpdated, protocol.ContextInfo{Tokens: rapid.Int64Range(0, 1e6).Draw(r, "tokens"), Percent: 2.5, MaxTokens: 5})
		case 7:
			in(protocol.ContextCompacted, protocol.ContextCompactedData{Before: 9, After: 3, Percent: 66.6})
		case 9:
			d := protocol.ErrorData{Kind: protocol.FaultExecution, Message: "wrong: " + text, Recoverable: rapid.Bool().Draw(r, "recoverable")}
			faulty = faulty || !d.Recoverable
			in(protocol.ErrorRaised, d)
		case 8:
			typ := rapid.SampledFrom(protocol.EventTypes).Draw(r, "type")
			if !opens(typ.Type) && !typ.Ephemeral {
				in(typ.Type, typ.New())
			}
		}
	}
	reasons := []protocol.Reason{protocol.ReasonError, protocol.ReasonMaxTokens}
	if !faulty { // an error is the last that happened: the turn failed
		reasons = append(reasons, protocol.ReasonCompleted, protocol.ReasonInterrupted)
	}
	reason := rapid.SampledFrom(reasons).Draw(r, "reason")
	in(protocol.TurnEnded, protocol.TurnEndedData{Reason: reason})
}

// opens tells the types that mean something only with proper data; the steps above have those.
func opens(typ protocol.Type) bool {
	switch typ {
	case protocol.MessageUser, protocol.TurnStarted, protocol.TurnEnded, protocol.ErrorRaised, protocol.ContextUpdated,
		protocol.ApprovalRequested, protocol.ApprovalExplained, protocol.ApprovalResolved, protocol.ToolStarted, protocol.ToolInput,
		protocol.ToolOutput, protocol.ToolEnded, protocol.SessionCreated, protocol.SessionClosed, protocol.AgentOptions:
		return true
	}
	return false
}

func (s *street) liveTool(r *rapid.T, in func(protocol.Type, any), id, text string) {
	name := rapid.SampledFrom([]string{"shell", localShell, "read"}).Draw(r, "tool")
	in(protocol.ToolStarted, protocol.ToolStartedData{Tool: id, Name: name, Input: json.RawMessage(`{"command":["go","test"]}`)})
	if rapid.Bool().Draw(r, "slow") {
		s.later(settling)
		s.carry()
	}
	for range rapid.IntRange(0, 2).Draw(r, "outputs") {
		in(protocol.ToolOutput, protocol.ToolOutputData{Tool: id, Text: text})
	}
	end := protocol.ToolEndedData{Tool: id, DurationMS: rapid.Int64Range(0, 9999).Draw(r, "ms")}
	end.Status = rapid.SampledFrom([]protocol.ToolStatus{
		protocol.ToolCompleted, protocol.ToolFailed, protocol.ToolDenied, protocol.ToolCancelled,
	}).Draw(r, "status")
	if end.Status == protocol.ToolDenied || end.Status == protocol.ToolCancelled {
		end.DurationMS = 0
	}
	in(protocol.ToolEnded, end)
}

// liveApproval asks the guest, who decides.
func (s *street) liveApproval(r *rapid.T, in func(protocol.Type, any), request string) {
	command := rapid.SampledFrom([]string{"ls -l", "rm -rf 'a b'", "cd x && make", "FOO=1 go test", "echo 'it'\\''s'"}).Draw(r, "command")
	in(protocol.ApprovalRequested, protocol.Approval{Request: request, Kind: protocol.ApproveCommand, Command: command, Options: choices()})
	if rapid.Bool().Draw(r, "explain") {
		s.guest.do(protocol.DoApprove, protocol.ApproveData{Decision: protocol.Explain})
		s.carry()
		in(protocol.ApprovalExplained, protocol.ApprovalExplainedData{Request: request, Text: "because"})
	}
	d := rapid.SampledFrom([]protocol.Decision{protocol.AllowOnce, protocol.AllowAlways, protocol.Deny}).Draw(r, "decision")
	s.guest.now = s.now
	s.guest.do(protocol.DoApprove, protocol.ApproveData{Decision: d})
	s.carry()
	s.guest.later(refusalWait)
	if got := last[protocol.ApproveData](s.house, protocol.DoApprove); got.Decision != d || got.Request != request {
		r.Fatalf("decided %+v, want %s of %s", got, d, request)
	}
	outcome := protocol.Allowed
	if d == protocol.Deny {
		outcome = protocol.Denied
	}
	in(protocol.ApprovalResolved, protocol.ApprovalResolvedData{Request: request, Outcome: outcome, Decision: d})
}

// AL-22, AL-23, AL-32: the whole flow over both codecs, from our client's message to its turn's end.
func TestMessageAndApprovalThroughBothEnds(t *testing.T) {
	s := newStreet(t)
	s.answer[protocol.DoSend] = func(*protocol.Command) any {
		return protocol.SendResult{Status: protocol.SendStarted, MessageID: "m1", Turn: "t1"}
	}
	s.guest.do(protocol.DoSend, protocol.SendData{Text: "clean up"})
	s.carry()
	s.add(asks(last[protocol.SendData](s.house, protocol.DoSend).Text))
	if r := resultOf[protocol.SendResult](s.guest); r.Status != protocol.SendStarted {
		t.Fatalf("send: %+v", r)
	}
	s.add(wants("a1", "rm -rf build", ""))
	if a := s.guest.state.Approvals; len(a) != 1 || a[0].Command != "rm -rf build" {
		t.Fatalf("approvals %+v", a)
	}
	s.guest.do(protocol.DoApprove, protocol.ApproveData{Decision: protocol.DenyStop, Reason: "keep it"})
	s.carry()
	if d := last[protocol.ApproveData](s.house, protocol.DoApprove); d.Decision != protocol.DenyStop || d.Reason != "keep it" {
		t.Fatalf("decided %+v", d)
	}
	s.add(resolves("a1", protocol.Denied, "agentloop@peer"))
	s.add(ends(protocol.ReasonDenied))
	if last := s.guest.state.Last; last == nil || last.Reason != protocol.ReasonDenied {
		t.Fatalf("last turn %+v", last)
	}
}

// AL-21: our client hears from our server who decided first.
func TestDecisionOfSomebodyElseThroughBothEnds(t *testing.T) {
	for by, outcome := range map[string]protocol.Outcome{"grace: hopper": protocol.Allowed, "": protocol.Expired} {
		s := newStreet(t)
		s.add(asks("x"))
		s.add(wants("a1", "ls", ""))
		over := resolves("a1", outcome, by)
		if by == "" {
			over.By = nil
		}
		s.add(over)
		s.guest.do(protocol.DoApprove, protocol.ApproveData{Request: "a1", Decision: protocol.Deny})
		if a := s.guest.answer(); a.Error == nil || a.Error.Code != protocol.CodeConflict || a.Error.Winner.By.Name != by || a.Error.Winner.Outcome != outcome {
			t.Fatalf("%q: %+v", by, a.Error)
		}
	}
}
