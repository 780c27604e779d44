package agentloop

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// AL-12, AL-16, AL-21, AL-31: frames of the real system for a turn with an approval.
func TestTurnAsTheRealSystemSendsIt(t *testing.T) {
	g := newClientHarness(t, "ws://localhost:8080", nil)
	g.send(protocol.DoSend, protocol.SendData{Text: "clean up"})
	if len(g.sent) != 1 || g.answer() != nil {
		t.Fatalf("sent %v", g.sent)
	}
	g.receive(loads(true), request)
	if r := resultOf[protocol.SendResult](g); r.Status != protocol.SendStarted || r.Turn != "t1" ||
		r.Seq != g.state.Turn.First {
		t.Fatalf("send: %+v", r)
	}
	a := g.state.Approvals[0]
	if a.Command != "rm -rf 'x y'" || len(a.Options) != 5 || g.state.Status() != protocol.Waiting {
		t.Fatalf("approval %+v", a)
	}
	g.send(protocol.DoApprove, protocol.ApproveData{Decision: protocol.Explain})
	g.receive(response(`{"type":"message","role":"user","content":[{"type":"input_text","text":"clean up"}]}`),
		response(`{"id":"u1","type":"message","role":"assistant","content":[{"type":"input_text","text":"it removes"}]}`), request)
	if r := resultOf[protocol.ApproveResult](g); r.Decision != protocol.Explain || r.Outcome != "" {
		t.Fatalf("explain: %+v", r)
	}
	if a := g.state.Approvals; len(a) != 1 || !slices.Equal(a[0].Explained, []string{"it removes"}) {
		t.Fatalf("approvals %+v", a)
	}
	g.send(protocol.DoApprove, protocol.ApproveData{Request: a.Request, Option: "yes"})
	g.receive(response(`{"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"hm"}],"duration_ms":3}`))
	if r := resultOf[protocol.ApproveResult](g); r.Outcome != protocol.Allowed {
		t.Fatalf("approve: %+v", r)
	}
	g.receive(response(`{"type":"local_shell_call","id":"s","call_id":"c1","status":"completed","action":{"type":"exec","command":["rm","-rf","x y"],"env":{}}}`),
		finished, `{"id":"c","type":"context_info","payload":{"tokenCount":5,"usagePercent":1.5,"transcriptLength":2,"maxTokens":9,"strategy":"s"}}`,
		response(`{"type":"local_shell_call_output","call_id":"c1","output":"{\"output\":\"\",\"metadata\":{\"exit_code\":0,\"duration_seconds\":0.5}}"}`),
		response(`{"id":"m","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"gone","annotations":[]}]}`),
		loads(false))
	g.expectTypes(protocol.MessageUser, protocol.TurnStarted, protocol.ApprovalRequested, protocol.ApprovalExplained,
		protocol.ApprovalResolved,
		protocol.ReasoningStart, protocol.ReasoningDelta, protocol.ReasoningEnd, protocol.ToolStarted,
		protocol.ContextUpdated,
		protocol.ToolEnded, protocol.TextStart, protocol.TextDelta, protocol.TextEnd, protocol.TurnEnded)
	if d := find[protocol.ToolEndedData](g, protocol.ToolEnded); d.Tool != "c1" || d.Status != protocol.ToolCompleted ||
		d.DurationMS != 500 {
		t.Fatalf("tool ended %+v", d)
	}
	if d := find[protocol.PartEndData](g, protocol.ReasoningEnd); d.DurationMS != 3 {
		t.Fatalf("reasoning %+v", d)
	}
	if d := find[protocol.TurnEndedData](g, protocol.TurnEnded); d.Reason != protocol.ReasonCompleted {
		t.Fatalf("ended %+v", d)
	}
	if h := resultOfHistory(g); len(h.Events) != 15 {
		t.Fatalf("history has %d events", len(h.Events))
	}
}

func resultOfHistory(g *clientHarness) protocol.HistoryResult {
	g.send(protocol.DoHistory, protocol.HistoryData{})
	return resultOf[protocol.HistoryResult](g)
}

// AL-16, X-12: in the document's order agent_finished comes last and changes nothing.
func TestTurnInTheDocumentsOrder(t *testing.T) {
	g := newClientHarness(t, "ws://x", nil)
	g.send(protocol.DoSend, protocol.SendData{Text: "hi"})
	g.receive(loads(true), response(`{"id":"m","type":"message","role":"assistant","content":[{"type":"input_text","text":"hello"}]}`), loads(false), finished)
	g.expectTypes(protocol.MessageUser, protocol.TurnStarted, protocol.TextStart, protocol.TextDelta, protocol.TextEnd,
		protocol.TurnEnded)
}

// AL-22: chunks with one id are one part, even if only the id connects them.
func TestChunksOfOneIDAreOnePart(t *testing.T) {
	g := newClientHarness(t, "ws://x", nil)
	chunk := func(text string) string {
		return response(`{"id":"claude_1","type":"message","role":"assistant","content":[{"type":"output_text","text":"` + text + `"}]}`)
	}
	g.receive(loads(true), chunk("a"), chunk("b"),
		response(`{"type":"function_call","call_id":"c","name":"shell","arguments":"{}"}`), chunk("c"), loads(false))
	g.expectTypes(protocol.MessageUser, protocol.TurnStarted, protocol.TextStart, protocol.TextDelta,
		protocol.TextDelta, protocol.TextEnd,
		protocol.ToolStarted, protocol.TextDelta, protocol.ToolEnded, protocol.TurnEnded)
	items := g.transcript.Turns[0].Items
	if len(items) != 2 || items[0].Text.String() != "abc" {
		t.Fatalf("items %+v", items)
	}
}

// AL-23: shell calls and their output are held back while a request is pending. None is lost, and
// they follow in order, however the request ends.
func TestShellCallsAreHeldBackWhileARequestIsPending(t *testing.T) {
	decides := func(d protocol.Decision) func(*clientHarness) {
		return func(g *clientHarness) {
			g.send(protocol.DoApprove, protocol.ApproveData{Decision: d})
			g.advance(rejectTimeout)
		}
	}
	says := func(frames ...string) func(*clientHarness) {
		return func(g *clientHarness) { g.receive(frames...) }
	}
	for name, ends := range map[string]func(*clientHarness){
		"yes": decides(protocol.AllowOnce), "always": decides(protocol.AllowAlways),
		"no-continue": decides(protocol.Deny), "no-exit": decides(protocol.DenyStop),
		"the turn ends":   says(loads(false)),
		"another request": says(`{"id":"2","type":"approval_request","payload":{"command":["other"]}}`),
		"another user":    says(response(`{"type":"message","role":"system","content":"Decided by grace: allowed."}`)),
		"nothing was pending": func(g *clientHarness) {
			g.send(protocol.DoApprove, protocol.ApproveData{Decision: protocol.AllowOnce})
			g.receive(`{"id":"1","type":"error","payload":{"message":"No pending approval request"}}`)
		},
		"the connection ended": nil,
	} {
		t.Run(name, func(t *testing.T) {
			memory := new(codec.ClientState)
			g := newClientHarness(t, "ws://x", memory)
			g.receive(loads(true), request,
				response(`{"type":"local_shell_call","id":"s1","action":{"command":["ls"]},"status":"completed"}`),
				response(`{"type":"local_shell_call_output","id":"o1","output":"{\"output\":\"f\",\"metadata\":{\"exit_code\":2,\"duration_seconds\":0.1}}"}`),
				response(`{"type":"local_shell_call","id":"s2","action":{"command":["pwd"]},"status":"completed"}`))
			g.expectTypes(protocol.MessageUser, protocol.TurnStarted, protocol.ApprovalRequested)
			story := func() (list []string) {
				for _, e := range g.events {
					switch e.Type {
					case protocol.ApprovalRequested, protocol.ApprovalResolved, protocol.ToolStarted,
						protocol.ToolOutput:
						list = append(list, string(e.Type))
					case protocol.ToolEnded:
						list = append(list, fmt.Sprint(e.Type, " ", decodeData[protocol.ToolEndedData](&e).Tool))
					}
				}
				return list
			}
			if ends != nil {
				ends(g)
			} else {
				o := codec.ClientOptions{URL: "ws://x", Resume: memory}
				g = resumeClientHarness(t, o, &protocol.Position{Epoch: "older", Seq: 1})
				for _, line := range resultOfHistory(g).Events {
					e := new(protocol.Event)
					if err := json.Unmarshal(line, e); err != nil {
						t.Fatal(err)
					}
					g.events = append(g.events, *e)
				}
			}
			want := []string{
				"approval.requested", "approval.resolved", "tool.started", "tool.output", "tool.ended s1",
				"tool.started",
			}
			if got := story(); len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
				t.Errorf("sent %v", got)
			}
		})
	}
}

// AL-17, AL-18, X-13: decisions are reviews; no-exit ends the turn as denied, if the server ends
// it.
func TestDecisionsAreReviews(t *testing.T) {
	for decision, word := range map[protocol.Decision]string{
		protocol.AllowOnce: "yes", protocol.AllowAlways: "always", protocol.Deny: "no-continue",
		protocol.DenyStop: "no-exit",
	} {
		g := newClientHarness(t, "ws://x", nil)
		g.receive(loads(true), request)
		g.send(protocol.DoApprove, protocol.ApproveData{Decision: decision, Reason: "why not"})
		var r approvalResponse
		if err := json.Unmarshal(g.sent[0].Payload, &r); err != nil || r.Review != word {
			t.Fatalf("%s: %s %v", decision, g.sent[0].Payload, err)
		}
		denies := decision == protocol.Deny || decision == protocol.DenyStop
		if denies != (r.DenyMessage != nil) || denies == (r.Explanation != nil) {
			t.Fatalf("%s: %s", decision, g.sent[0].Payload)
		}
		g.receive(loads(false))
		want := protocol.ReasonCompleted
		if decision == protocol.DenyStop {
			want = protocol.ReasonDenied
		}
		if d := find[protocol.TurnEndedData](g, protocol.TurnEnded); d.Reason != want {
			t.Fatalf("%s: ended %+v", decision, d)
		}
		if g.state.Status() != protocol.Idle || resultOf[protocol.ApproveResult](g).Decision != decision {
			t.Fatalf("%s: %+v", decision, g.answer())
		}
		g.send(protocol.DoApprove, protocol.ApproveData{Request: "a1", Decision: decision})
		if a := g.answer(); a.Error.Code != protocol.CodeConflict || a.Error.Winner.By.Name != "ada" {
			t.Fatalf("again: %+v", a.Error)
		}
	}
}

// AL-20: a patch is sent back, edited or not.
func TestPatchGoesBack(t *testing.T) {
	g := newClientHarness(t, "ws://x", nil)
	g.receive(loads(true), `{"id":"q","type":"approval_request","payload":{"command":["apply_patch","p"],"applyPatch":{"patch":"*** Begin Patch\n*** Update File: src/a.ts\n*** End Patch"}}}`)
	a := g.state.Approvals[0]
	if a.Kind != protocol.ApprovePatch || !slices.Equal(a.Paths, []string{"src/a.ts"}) {
		t.Fatalf("approval %+v", a)
	}
	g.send(protocol.DoApprove, protocol.ApproveData{
		Decision: protocol.AllowOnce,
		Input:    &protocol.ApprovalInput{Patch: "mine"},
	})
	if got := string(g.sent[0].Payload); got != `{"review":"yes","applyPatch":{"patch":"mine"},"customDenyMessage":null}` {
		t.Fatal(got)
	}
}

// Input that an answer cannot carry is not offered, and refused: only an edited patch of an
// editable request is accepted.
func TestOnlyWhatGoesBackMayBeEdited(t *testing.T) {
	const patch = "*** Begin Patch\n*** Delete File: a\n*** End Patch"
	long := "*** Begin Patch\n" + strings.Repeat("+x\n", maxText) + "*** End Patch"
	for name, c := range map[string]struct {
		asks     approvalRequest
		editable bool
	}{
		"a patch": {approvalRequest{[]string{"apply_patch", patch}, &applyPatch{Patch: patch}}, true},
		"one to be taken": {approvalRequest{
			[]string{"apply_patch", patch},
			&applyPatch{Patch: patch, ReadOnly: true},
		}, false},
		"one in the command":  {approvalRequest{[]string{"apply_patch", patch}, nil}, false},
		"one shown in part":   {approvalRequest{[]string{"apply_patch", long}, &applyPatch{Patch: long}}, false},
		"a command, no patch": {approvalRequest{[]string{"ls"}, nil}, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := newClientHarness(t, "ws://x", nil)
			g.receive(loads(true), string(encodeMessage("q", approvalRequestType, c.asks).Data))
			if a := g.state.Approvals[0]; a.Editable != c.editable {
				t.Errorf("editable: %v", a.Editable)
			}
			answers := protocol.ApproveData{
				Decision: protocol.AllowOnce,
				Input:    &protocol.ApprovalInput{Answers: map[string][]string{"q": {"a"}}},
			}
			if g.send(protocol.DoApprove, answers); g.code() != protocol.CodeUnsupported {
				t.Errorf("answers to a question: %q", g.code())
			}
			command := protocol.ApproveData{
				Decision: protocol.AllowOnce, Input: &protocol.ApprovalInput{Command: "ls"},
			}
			if g.send(protocol.DoApprove, command); g.code() != protocol.CodeUnsupported {
				t.Errorf("an edited command: %q", g.code())
			}
			g.send(protocol.DoApprove, protocol.ApproveData{
				Decision: protocol.AllowOnce,
				Input:    &protocol.ApprovalInput{Patch: "mine"},
			})
			if c.editable {
				if len(g.sent) != 1 {
					t.Errorf("the edited patch was not sent: %q", g.code())
				}
			} else if g.code() != protocol.CodeUnsupported || len(g.sent) != 0 {
				t.Errorf("sent %v, answered %q", g.sent, g.code())
			}
		})
	}
}

// A decision that the server refuses is answered with its reason.
func TestRefusedDecision(t *testing.T) {
	g := newClientHarness(t, "ws://x", nil)
	g.receive(loads(true), request)
	g.send(protocol.DoApprove, protocol.ApproveData{Decision: protocol.AllowOnce})
	g.receive(`{"id":"e","type":"error","payload":{"message":"No pending approval request"}}`)
	if g.code() != protocol.CodeConflict || len(g.state.Approvals) != 0 {
		t.Fatalf("%+v, pending %v", g.answer(), g.state.Approvals)
	}
	if d := find[protocol.ApprovalResolvedData](g, protocol.ApprovalResolved); d.Outcome != protocol.Cancelled {
		t.Fatalf("resolved %+v", d)
	}
	g.receive(request)
	g.send(protocol.DoApprove, protocol.ApproveData{Decision: protocol.Explain})
	g.receive(`{"id":"e","type":"error","payload":{"message":"Failed to process approval response","details":{"error":"no","code":"unsupported"}}}`, request)
	if g.code() != protocol.CodeUnsupported || len(g.state.Approvals) != 1 {
		t.Fatalf("%+v, pending %v", g.answer(), g.state.Approvals)
	}
}

// AL-4, AL-13, AL-14.
func TestContextAndCompact(t *testing.T) {
	g := newClientHarness(t, "ws://x", nil)
	g.send(protocol.DoContext, nil)
	g.receive(`{"id":"c","type":"context_info","payload":{"tokenCount":45231,"usagePercent":35.4,"transcriptLength":87,"maxTokens":128000,"strategy":"T"}}`)
	if r := resultOf[protocol.ContextResult](g); r.Context.Tokens != 45231 || r.Context.Percent != 35.4 ||
		*g.state.Context != r.Context {
		t.Fatalf("context %+v", r)
	}
	g.send(protocol.DoCompact, nil)
	g.receive(`{"id":"c","type":"context_compacted","payload":{"oldTokenCount":100,"newTokenCount":20,"reductionPercent":80,"strategy":"T"}}`)
	if r := resultOf[protocol.CompactResult](g); r.Compacted.Before != 100 || r.Compacted.Automatic {
		t.Fatalf("compact %+v", r)
	}
	g.receive(`{"id":"c","type":"context_compacted","payload":{"oldTokenCount":100,"newTokenCount":20,"reductionPercent":80,"strategy":"T"}}`)
	if d := find[protocol.ContextCompactedData](g, protocol.ContextCompacted); !d.Automatic {
		t.Fatalf("compacted %+v", d)
	}
	g.send(protocol.DoContext, nil)
	g.receive(`{"id":"e","type":"error","payload":{"message":"AgentLoop not initialized","details":null}}`)
	if g.code() != protocol.CodeAgentFailed {
		t.Fatalf("%+v", g.answer())
	}
	g.send(protocol.DoContext, nil)
	g.advance(contextTimeout)
	if g.code() != protocol.CodeTimeout {
		t.Fatalf("%+v", g.answer())
	}
}

// AL-10, AL-15, AL-24, AL-30: a turn fails if an error is the last thing in it.
func TestErrorsInATurn(t *testing.T) {
	const fault = `{"id":"e","type":"error","payload":{"message":"Failed to process user input","details":{"error":"Rate limit exceeded","code":429}}}`
	g := newClientHarness(t, "ws://x", nil)
	g.receive(loads(true), fault, loads(false))
	d := find[protocol.TurnEndedData](g, protocol.TurnEnded)
	if d.Reason != protocol.ReasonError || d.Message != "Failed to process user input: Rate limit exceeded" {
		t.Fatalf("ended %+v", d)
	}
	if e := find[protocol.ErrorData](g, protocol.ErrorRaised); e.Details["provider_status"] != "429" {
		t.Fatalf("error %+v", e)
	}
	g.receive(loads(true), fault, response(`{"type":"message","role":"assistant","content":"here"}`), loads(false))
	if d := find[protocol.TurnEndedData](g, protocol.TurnEnded); d.Reason != protocol.ReasonCompleted {
		t.Fatalf("ended %+v", d)
	}
}

func TestRefusedMessageIsAnswered(t *testing.T) {
	g := newClientHarness(t, "ws://x", nil)
	g.sendKeyed(protocol.DoSend, "k", protocol.SendData{Text: "hi"})
	g.receive(`{"id":"e","type":"error","payload":{"message":"Failed to process user input","details":{"error":"closed","code":"session_closed"}}}`)
	if g.code() != protocol.CodeSessionClosed {
		t.Fatalf("%+v", g.answer())
	}
	g.sendKeyed(protocol.DoSend, "k", protocol.SendData{Text: "hi"})
	if len(g.sent) != 2 {
		t.Fatal("a refused message is not sent again")
	}
}

// AL-9: system messages are notices; other roles and kinds are kept raw.
func TestWhatIsNotTheAgentsIsKept(t *testing.T) {
	g := newClientHarness(t, "ws://x", nil)
	g.receive(response(`{"type":"message","role":"system","content":[{"type":"input_text","text":"⚠️ Network error"}]}`))
	if d := find[protocol.NoticeData](g, protocol.Notice); d.Level != protocol.LevelWarning ||
		d.Message != "Network error" {
		t.Fatalf("notice %+v", d)
	}
	for _, f := range []string{
		`{"id":"1","type":"brand_new","payload":{"x":1}}`, `not JSON`, `{"id":"1","type":"response_item"}`, `[1]`,
		response(`{"type":"web_search_call","id":"w"}`),
		response(`{"type":"message","role":"developer","content":"x"}`),
		response(`{"type":"message","role":"assistant","content":[{"type":"input_image","image_url":"u"}]}`), response(`7`),
		`{"id":"1","type":"approval_request","payload":{"command":"ls"}}`,
		`{"id":"1","type":"loading_state","payload":{}}`,
	} {
		before := len(g.events)
		g.receive(f)
		if n := len(g.events); n != before+1 || g.events[n-1].Type != protocol.Raw {
			t.Fatalf("%s: %v", f, g.types())
		}
		if d := find[protocol.RawData](g, protocol.Raw); d.Source != Name || len(d.Data) == 0 {
			t.Fatalf("%s: %+v", f, d)
		}
	}
}

// at agentctl's server a message during a turn is queued, and starts with its echo.
func TestQueuedMessages(t *testing.T) {
	g := newAgentctlHarness(t, nil)
	g.send(protocol.DoSend, protocol.SendData{Text: "one"})
	g.receive(loads(true), echoOf("one"))
	g.send(protocol.DoSend, protocol.SendData{Text: "two"})
	if g.answer() != nil || len(g.state.Queue) > 0 {
		t.Fatalf("answered %+v before the server has it", g.answer())
	}
	g.receive(queuedAs(g))
	if r := resultOf[protocol.SendResult](g); r.Status != protocol.SendQueued || *r.Index != 0 ||
		len(g.state.Queue) != 1 {
		t.Fatalf("send: %+v", r)
	}
	g.receive(loads(false), loads(true), response(`{"type":"message","role":"user","content":"another user"}`))
	if g.state.Turn.Message.Text != "another user" || len(g.state.Queue) != 1 {
		t.Fatalf("turn %+v", g.state.Turn)
	}
	g.receive(loads(false), loads(true), response(`{"type":"message","role":"user","content":"two"}`))
	if g.state.Turn.Message.Text != "two" || len(g.state.Queue) != 0 {
		t.Fatalf("turn %+v, queue %+v", g.state.Turn, g.state.Queue)
	}
}

// At agentctl's server a message behind another user's message is queued.
func TestMessageBehindSomebodyElses(t *testing.T) {
	g := newAgentctlHarness(t, nil)
	g.send(protocol.DoSend, protocol.SendData{Text: "mine"})
	g.receive(loads(true), echoOf("theirs"))
	if g.answer() != nil {
		t.Fatalf("answered %+v before the server has it", g.answer())
	}
	g.receive(queuedAs(g))
	if r := resultOf[protocol.SendResult](g); r.Status != protocol.SendQueued || len(g.state.Queue) != 1 {
		t.Fatalf("send: %+v", r)
	}
}

// queuedAs returns the report of agentctl's server that the newest message is queued.
func queuedAs(g *clientHarness) string {
	it := newMessageItem("s", system, "Queued.")
	return string(encodeMessage(g.sent[len(g.sent)-1].ID, responseItemType, it).Data)
}

// At agentctl's server a turn without a message is not that of a message of the client: it may be
// another user's, whose echo is late.
func TestATurnWithoutItsMessageAcknowledgesNone(t *testing.T) {
	g := newAgentctlHarness(t, nil)
	g.send(protocol.DoSend, protocol.SendData{Text: "mine"})
	g.receive(loads(true))
	g.advance(echoTimeout)
	if g.answer() != nil {
		t.Fatalf("answered %+v without its echo", g.answer())
	}
	g.receive(echoOf("mine"))
	if r := resultOf[protocol.SendResult](g); r.Status != protocol.SendStarted || r.Turn != g.state.Turn.Turn {
		t.Fatalf("send: %+v", r)
	}
}

// At agentctl's server an error answers the message whose id it has, also during a turn.
func TestAnErrorAnswersItsMessage(t *testing.T) {
	g := newAgentctlHarness(t, nil)
	g.send(protocol.DoSend, protocol.SendData{Text: "one"})
	g.receive(loads(true), echoOf("one"))
	first := g.send(protocol.DoSend, protocol.SendData{Text: "two"})
	id := g.sent[len(g.sent)-1].ID
	g.send(protocol.DoSend, protocol.SendData{Text: "three"})
	g.receive(`{"id":"` + id + `","type":"error","payload":{"message":"Failed to process user input",` +
		`"details":{"error":"full","code":"queue_full"}}}`)
	if first != nil || g.answer() != nil || g.state.Turn == nil {
		t.Fatalf("answers %+v, %+v; turn %+v", first, g.answer(), g.state.Turn)
	}
	a := g.answers[fmt.Sprint(g.commandCount-1)]
	if a == nil || a.Error == nil || a.Error.Code != protocol.CodeQueueFull {
		t.Fatalf("the refused message is answered %+v", a)
	}
}

// The first commands are answered when the turn under way is known.
func TestFirstCommandsWaitForTheTurnUnderWay(t *testing.T) {
	g := &clientHarness{
		t: t, now: epochStart, answers: map[string]*protocol.Answer{},
		codec: newClient(codec.ClientOptions{URL: "ws://x", ID: ids()}), state: &protocol.State{},
	}
	g.handleOutput(g.codec.Open(g.now))
	g.send(protocol.DoSnapshot, nil)
	g.advance(quietTimeout - 1)
	g.receive(loads(true))
	g.advance(1)
	g.receive(request)
	if g.answer() != nil {
		t.Fatal("answered too early")
	}
	g.advance(moreTimeout)
	if r := resultOf[protocol.SnapshotResult](g); r.Status != protocol.Waiting {
		t.Fatalf("status %s", r.Status)
	}
}

// A message with a key is sent once. If the connection broke before the server confirmed it, it is
// not sent again.
func TestKeys(t *testing.T) {
	memory := new(codec.ClientState)
	g := newClientHarness(t, "ws://x", memory)
	g.sendKeyed(protocol.DoSend, "k1", protocol.SendData{Text: "one"})
	g.receive(loads(true), response(`{"type":"message","role":"assistant","content":"x"}`))
	first := resultOf[protocol.SendResult](g)
	g.sendKeyed(protocol.DoSend, "k1", protocol.SendData{Text: "one"})
	if again := resultOf[protocol.SendResult](g); again != first || len(g.sent) != 1 {
		t.Fatalf("again: %+v", again)
	}
	g.sendKeyed(protocol.DoSend, "k1", protocol.SendData{Text: "other"})
	if g.code() != protocol.CodeKeyReused {
		t.Fatalf("%+v", g.answer())
	}
	g.receive(loads(false))
	g.sendKeyed(protocol.DoSend, "k2", protocol.SendData{Text: "two"})

	g = newClientHarness(t, "ws://x", memory)
	g.sendKeyed(protocol.DoSend, "k2", protocol.SendData{Text: "two"})
	g.receive(loads(true), response(`{"type":"message","role":"user","content":"two"}`))
	if r := resultOf[protocol.SendResult](g); r.Status != protocol.SendStarted || len(g.sent) != 0 {
		t.Fatalf("send: %+v, sent %v", r, g.sent)
	}
	g.receive(loads(false))
	g.sendKeyed(protocol.DoSend, "k3", protocol.SendData{Text: "three"})

	g = newClientHarness(t, "ws://x", memory)
	g.sendKeyed(protocol.DoSend, "k3", protocol.SendData{Text: "three"})
	g.receive(loads(true), response(`{"type":"reasoning"}`)) // without an echo: possibly another user's
	if g.answer() != nil {
		t.Fatalf("send: %+v", g.answer())
	}
	g.advance(startTimeout)
	if g.code() != protocol.CodeTimeout || len(g.sent) != 0 {
		t.Fatalf("%+v, sent %v", g.answer(), g.sent)
	}
}

// A position of an earlier connection gets a reset, one of this connection a resume.
func TestPositions(t *testing.T) {
	g := newClientHarness(t, "ws://x", nil)
	g.receive(loads(true), response(`{"type":"message","role":"assistant","content":"x"}`))
	at := protocol.Position{Epoch: g.codec.log.Epoch, Seq: g.state.Seq - 1}
	if a := g.send(protocol.DoSubscribe, protocol.SubscribeData{Position: &protocol.Position{
		Epoch: "old",
		Seq:   9,
	}}); !strings.Contains(string(a.Result), protocol.ResetResubscribed) {
		t.Fatalf("%s", a.Result)
	}
	g.state = &protocol.State{Seq: at.Seq}
	if a := g.send(protocol.DoSubscribe, protocol.SubscribeData{Position: &at}); !strings.Contains(string(a.Result),
		protocol.ModeResume) {
		t.Fatalf("%s", a.Result)
	}
}

// An unsupported command fails with the code unsupported and its name.
func TestUnsupportedCommands(t *testing.T) {
	g := newClientHarness(t, "ws://localhost:8080/ws/abc", nil)
	for _, c := range protocol.Commands {
		if slices.Contains(verbs, c.Verb) || c.Verb == protocol.DoHello || c.Verb == protocol.DoPing ||
			c.Verb == protocol.DoAck {
			continue
		}
		g.send(c.Verb, nil)
		if a := g.answer(); a == nil || a.Error == nil || a.Error.Code != protocol.CodeUnsupported ||
			!strings.Contains(a.Error.Message, Name) {
			t.Fatalf("%s: %+v", c.Verb, a)
		}
	}
	own := newAgentctlHarness(t, nil)
	own.send(protocol.DoSend, protocol.SendData{Text: "x", Front: true})
	if own.code() != protocol.CodeUnsupported {
		t.Fatalf("%+v", own.answer())
	}
	g.handleOutput(g.codec.Native(g.now, []byte(`{"id":"z","command":"snapshot","session":"other"}`)))
	if g.answers["z"].Error.Code != protocol.CodeNoSession {
		t.Fatalf("%+v", g.answers["z"])
	}
}

func TestWatchTellsChanges(t *testing.T) {
	g := newClientHarness(t, "ws://x", nil)
	g.send(protocol.DoWatch, nil)
	g.send(protocol.DoList, nil)
	if r := resultOf[protocol.ListResult](g); len(r.Sessions) != 1 || r.Sessions[0].Status != protocol.Idle {
		t.Fatalf("list %+v", r)
	}
	for _, e := range g.events {
		if e.Type == protocol.SummaryChanged {
			t.Errorf("published without a change: %s", e.Data)
		}
	}
	g.receive(loads(true), request)
	if d := find[protocol.Summary](g, protocol.SummaryChanged); d.Status != protocol.Waiting || d.Approvals != 1 {
		t.Fatalf("summary %+v", d)
	}
}

// Remembered keys are bounded. A refused message may be sent again with its key.
func TestKeysAreKeptAndBounded(t *testing.T) {
	m := newClientState()
	for i := range 2 * maxKeys {
		m.addKey(fmt.Sprint("k", i), "x")
	}
	if _, ok := m.keys.Get(fmt.Sprint("k", 2*maxKeys-1)); m.keys.Len() != maxKeys || !ok {
		t.Errorf("%d keys", m.keys.Len())
	}
	refused := m.addKey("refused", "x")
	m.removeKey(refused)
	if _, ok := m.keys.Get("refused"); ok || m.keys.Len() != maxKeys-1 {
		t.Errorf("a refused command is remembered: %d keys", m.keys.Len())
	}
}

// An item's id is the part's, whatever its length.
func TestALongIDIsStillOnePart(t *testing.T) {
	g := newClientHarness(t, "ws://x", nil)
	id := strings.Repeat("i", 1<<18)
	for _, text := range []string{"one ", "two"} {
		g.receive(response(`{"type":"message","role":"assistant","id":"` + id +
			`","content":[{"type":"output_text","text":"` + text + `"}]}`))
	}
	starts := 0
	for _, e := range g.events {
		if len(e.Data) > protocol.MaxText+1024 {
			t.Errorf("an event of %d bytes", len(e.Data))
		}
		if e.Type == protocol.TextStart {
			starts++
		}
	}
	if starts != 1 {
		t.Errorf("%d parts", starts)
	}
}

// A request that another user decided is over when its command gives output, in any form.
func TestRequestThatSomebodyElseDecided(t *testing.T) {
	for _, typ := range []string{"function_call", "local_shell_call"} {
		g := newClientHarness(t, "ws://x", nil)
		g.receive(loads(true), request, response(`{"type":"`+typ+`","call_id":"c","name":"shell","arguments":"{\"command\":[\"rm\",\"-rf\",\"x y\"]}","action":{"command":["rm","-rf","x y"]}}`))
		if len(g.state.Approvals) != 1 {
			t.Fatalf("%s: the call alone ended the request", typ)
		}
		g.receive(response(`{"type":"` + typ + `_output","call_id":"c","output":"{\"output\":\"ok\",\"metadata\":{\"exit_code\":0}}"}`))
		if d := find[protocol.ApprovalResolvedData](g, protocol.ApprovalResolved); d.Outcome != protocol.Allowed ||
			len(g.state.Approvals) != 0 {
			t.Fatalf("%s: resolved %+v", typ, d)
		}
		if types := g.types(); types[len(types)-1] != protocol.ToolEnded {
			t.Fatalf("%s: %v", typ, types)
		}
	}
}

// The output of a call without a title does not decide a patch.
func TestAnotherCallDecidesNothing(t *testing.T) {
	g := newClientHarness(t, "ws://x", nil)
	g.receive(loads(true), response(`{"type":"function_call","call_id":"c","name":"","arguments":"{}"}`),
		`{"id":"q","type":"approval_request","payload":{"command":["apply_patch","p"],"applyPatch":{"patch":"p"}}}`,
		response(`{"type":"function_call_output","call_id":"c","output":"done"}`))
	if len(g.state.Approvals) != 1 {
		t.Errorf("it is over: %+v", find[protocol.ApprovalResolvedData](g, protocol.ApprovalResolved))
	}
}

// No message of a user is dropped: a late echo becomes a notice.
func TestLateEchoIsKept(t *testing.T) {
	g := newClientHarness(t, "ws://x", nil)
	g.receive(loads(true), response(`{"type":"reasoning"}`),
		response(`{"type":"message","role":"user","content":"who said that"}`))
	if d := find[protocol.NoticeData](g, protocol.Notice); d.Message != "Told the agent: who said that" {
		t.Fatalf("notice %+v", d)
	}
}

// Outputs of calls without a start, that are not the document's JSON, or that are cut off.
func TestOutputsAsTheyCome(t *testing.T) {
	g := newClientHarness(t, "ws://x", nil)
	g.receive(loads(true), response(`{"type":"function_call_output","call_id":"c","output":"plain"}`))
	g.expectTypes(protocol.MessageUser, protocol.TurnStarted, protocol.ToolStarted, protocol.ToolOutput,
		protocol.ToolEnded)
	if d := find[protocol.ToolOutputData](g, protocol.ToolOutput); d.Text != "plain" {
		t.Fatalf("output %+v", d)
	}
	g.receive(response(`{"type":"function_call_output","call_id":"d","output":"{\"output\":\"half\\naborted\",\"metadata\":{}}"}`))
	if d := find[protocol.ToolEndedData](g, protocol.ToolEnded); d.Status != protocol.ToolCancelled || d.Tool != "d" {
		t.Fatalf("ended %+v", d)
	}
	if d := find[protocol.ToolOutputData](g, protocol.ToolOutput); d.Text != "half" {
		t.Fatalf("output %+v", d)
	}
	g.receive(response(`{"type":"function_call","call_id":"e","name":"read","arguments":"not JSON"}`))
	if d := find[protocol.ToolStartedData](g, protocol.ToolStarted); string(d.Input) != `"not JSON"` {
		t.Fatalf("started %+v", d)
	}
}

func TestAFileThatIsNeitherTextNorAnImageIsRefused(t *testing.T) {
	g := newClientHarness(t, "ws://x/s", nil)
	g.send(protocol.DoSend, protocol.SendData{Text: "see", Parts: []protocol.Part{
		{Type: "file", Name: "a.zip", URL: "data:application/zip;base64,UEs="},
	}})
	if got := g.code(); got != protocol.CodeUnsupported || len(g.sent) > 0 {
		t.Errorf("code %q, sent %v", got, g.sent)
	}
	g.send(protocol.DoSend, protocol.SendData{Text: "see", Parts: []protocol.Part{
		{Type: "file", Name: "a.txt", Text: "words"}, {Type: "image", URL: "data:image/png;base64,QQ=="},
	}})
	if len(g.sent) != 1 || !strings.Contains(string(g.sent[0].Payload), "words") {
		t.Errorf("sent %v", g.sent)
	}
}
