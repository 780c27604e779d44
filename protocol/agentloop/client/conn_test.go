package client

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"agentctl/internal/dev/agentlooptest"
	"agentctl/internal/dev/codectest"
	"agentctl/protocol"
	"agentctl/protocol/agentloop/wire"
	"agentctl/protocol/codec"
)

// AL-12, AL-16, AL-21, AL-31: frames of the real system for a turn with an approval.
func TestTurnAsTheRealSystemSendsIt(t *testing.T) {
	g := newClientHarness(t, "ws://localhost:8080", nil)
	g.Send(protocol.DoSend, protocol.SendData{Text: "clean up"})
	if len(g.Sent) != 1 || g.Answer() != nil {
		t.Fatalf("sent %v", g.Sent)
	}
	g.Receive(agentlooptest.Loads(true), agentlooptest.Request)
	if r := agentlooptest.ResultOf[protocol.SendResult](g); r.Status != protocol.SendStarted || r.Turn != "t1" ||
		r.Seq != g.State.Turn.First {
		t.Fatalf("send: %+v", r)
	}
	a := g.State.Approvals[0]
	if a.Command != "rm -rf 'x y'" || len(a.Options) != 5 || g.State.Status() != protocol.Waiting {
		t.Fatalf("approval %+v", a)
	}
	g.Send(protocol.DoApprove, protocol.ApproveData{Decision: protocol.Explain})
	g.Receive(agentlooptest.Response(`{"type":"message","role":"user","content":[{"type":"input_text","text":"clean up"}]}`),
		agentlooptest.Response(`{"id":"u1","type":"message","role":"assistant","content":[{"type":"input_text","text":"it removes"}]}`), agentlooptest.Request)
	if r := agentlooptest.ResultOf[protocol.ApproveResult](g); r.Decision != protocol.Explain || r.Outcome != "" {
		t.Fatalf("explain: %+v", r)
	}
	if a := g.State.Approvals; len(a) != 1 || !slices.Equal(a[0].Explained, []string{"it removes"}) {
		t.Fatalf("approvals %+v", a)
	}
	g.Send(protocol.DoApprove, protocol.ApproveData{Request: a.Request, Option: "yes"})
	g.Receive(agentlooptest.Response(`{"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"hm"}],"duration_ms":3}`))
	if r := agentlooptest.ResultOf[protocol.ApproveResult](g); r.Outcome != protocol.Allowed {
		t.Fatalf("approve: %+v", r)
	}
	g.Receive(agentlooptest.Response(`{"type":"local_shell_call","id":"s","call_id":"c1","status":"completed","action":{"type":"exec","command":["rm","-rf","x y"],"env":{}}}`),
		agentlooptest.Finished, `{"id":"c","type":"context_info","payload":{"tokenCount":5,"usagePercent":1.5,"transcriptLength":2,"maxTokens":9,"strategy":"s"}}`,
		agentlooptest.Response(`{"type":"local_shell_call_output","call_id":"c1","output":"{\"output\":\"\",\"metadata\":{\"exit_code\":0,\"duration_seconds\":0.5}}"}`),
		agentlooptest.Response(`{"id":"m","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"gone","annotations":[]}]}`),
		agentlooptest.Loads(false))
	g.ExpectTypes(protocol.MessageUser, protocol.TurnStarted, protocol.ApprovalRequested, protocol.ApprovalExplained,
		protocol.ApprovalResolved,
		protocol.ReasoningStart, protocol.ReasoningDelta, protocol.ReasoningEnd, protocol.ToolStarted,
		protocol.ContextUpdated,
		protocol.ToolEnded, protocol.TextStart, protocol.TextDelta, protocol.TextEnd, protocol.TurnEnded)
	if d := agentlooptest.Find[protocol.ToolEndedData](g, protocol.ToolEnded); d.Tool != "c1" || d.Status != protocol.ToolCompleted ||
		d.DurationMS != 500 {
		t.Fatalf("tool ended %+v", d)
	}
	if d := agentlooptest.Find[protocol.PartEndData](g, protocol.ReasoningEnd); d.DurationMS != 3 {
		t.Fatalf("reasoning %+v", d)
	}
	if d := agentlooptest.Find[protocol.TurnEndedData](g, protocol.TurnEnded); d.Reason != protocol.ReasonCompleted {
		t.Fatalf("ended %+v", d)
	}
	if h := resultOfHistory(g); len(h.Events) != 15 {
		t.Fatalf("history has %d events", len(h.Events))
	}
}

func resultOfHistory(g *agentlooptest.Client) protocol.HistoryResult {
	g.Send(protocol.DoHistory, protocol.HistoryData{})
	return agentlooptest.ResultOf[protocol.HistoryResult](g)
}

// AL-16, X-12: in the document's order agent_finished comes last and changes nothing.
func TestTurnInTheDocumentsOrder(t *testing.T) {
	g := newClientHarness(t, "ws://x", nil)
	g.Send(protocol.DoSend, protocol.SendData{Text: "hi"})
	g.Receive(agentlooptest.Loads(true), agentlooptest.Response(`{"id":"m","type":"message","role":"assistant","content":[{"type":"input_text","text":"hello"}]}`), agentlooptest.Loads(false), agentlooptest.Finished)
	g.ExpectTypes(protocol.MessageUser, protocol.TurnStarted, protocol.TextStart, protocol.TextDelta, protocol.TextEnd,
		protocol.TurnEnded)
}

// AL-22: chunks with one id are one part, even if only the id connects them.
func TestChunksOfOneIDAreOnePart(t *testing.T) {
	g := newClientHarness(t, "ws://x", nil)
	chunk := func(text string) string {
		return agentlooptest.Response(`{"id":"claude_1","type":"message","role":"assistant","content":[{"type":"output_text","text":"` + text + `"}]}`)
	}
	g.Receive(agentlooptest.Loads(true), chunk("a"), chunk("b"),
		agentlooptest.Response(`{"type":"function_call","call_id":"c","name":"shell","arguments":"{}"}`), chunk("c"), agentlooptest.Loads(false))
	g.ExpectTypes(protocol.MessageUser, protocol.TurnStarted, protocol.TextStart, protocol.TextDelta,
		protocol.TextDelta, protocol.TextEnd,
		protocol.ToolStarted, protocol.TextDelta, protocol.ToolEnded, protocol.TurnEnded)
	items := g.Transcript.Turns[0].Items
	if len(items) != 2 || items[0].Text.String() != "abc" {
		t.Fatalf("items %+v", items)
	}
}

// AL-23: shell calls and their output are held back while a request is pending. None is lost, and
// they follow in order, however the request ends.
func TestShellCallsAreHeldBackWhileARequestIsPending(t *testing.T) {
	decides := func(d protocol.Decision) func(*agentlooptest.Client) {
		return func(g *agentlooptest.Client) {
			g.Send(protocol.DoApprove, protocol.ApproveData{Decision: d})
			g.Advance(rejectTimeout)
		}
	}
	says := func(frames ...string) func(*agentlooptest.Client) {
		return func(g *agentlooptest.Client) { g.Receive(frames...) }
	}
	for name, ends := range map[string]func(*agentlooptest.Client){
		"yes": decides(protocol.AllowOnce), "always": decides(protocol.AllowAlways),
		"no-continue": decides(protocol.Deny), "no-exit": decides(protocol.DenyStop),
		"the turn ends":   says(agentlooptest.Loads(false)),
		"another request": says(`{"id":"2","type":"approval_request","payload":{"command":["other"]}}`),
		"another user":    says(agentlooptest.Response(`{"type":"message","role":"system","content":"Decided by grace: allowed."}`)),
		"nothing was pending": func(g *agentlooptest.Client) {
			g.Send(protocol.DoApprove, protocol.ApproveData{Decision: protocol.AllowOnce})
			g.Receive(`{"id":"1","type":"error","payload":{"message":"No pending approval request"}}`)
		},
		"the connection ended": nil,
	} {
		t.Run(name, func(t *testing.T) {
			memory := new(codec.ClientState)
			g := newClientHarness(t, "ws://x", memory)
			g.Receive(agentlooptest.Loads(true), agentlooptest.Request,
				agentlooptest.Response(`{"type":"local_shell_call","id":"s1","action":{"command":["ls"]},"status":"completed"}`),
				agentlooptest.Response(`{"type":"local_shell_call_output","id":"o1","output":"{\"output\":\"f\",\"metadata\":{\"exit_code\":2,\"duration_seconds\":0.1}}"}`),
				agentlooptest.Response(`{"type":"local_shell_call","id":"s2","action":{"command":["pwd"]},"status":"completed"}`))
			g.ExpectTypes(protocol.MessageUser, protocol.TurnStarted, protocol.ApprovalRequested)
			story := func() (list []string) {
				for _, e := range g.Events {
					switch e.Type {
					case protocol.ApprovalRequested, protocol.ApprovalResolved, protocol.ToolStarted,
						protocol.ToolOutput:
						list = append(list, string(e.Type))
					case protocol.ToolEnded:
						list = append(list, fmt.Sprint(e.Type, " ", codec.DecodeEvent[protocol.ToolEndedData](&e).Tool))
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
					g.Events = append(g.Events, *e)
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
		g.Receive(agentlooptest.Loads(true), agentlooptest.Request)
		g.Send(protocol.DoApprove, protocol.ApproveData{Decision: decision, Reason: "why not"})
		var r wire.ApprovalResponse
		if err := json.Unmarshal(g.Sent[0].Payload, &r); err != nil || r.Review != word {
			t.Fatalf("%s: %s %v", decision, g.Sent[0].Payload, err)
		}
		denies := decision == protocol.Deny || decision == protocol.DenyStop
		if denies != (r.DenyMessage != nil) || denies == (r.Explanation != nil) {
			t.Fatalf("%s: %s", decision, g.Sent[0].Payload)
		}
		g.Receive(agentlooptest.Loads(false))
		want := protocol.ReasonCompleted
		if decision == protocol.DenyStop {
			want = protocol.ReasonDenied
		}
		if d := agentlooptest.Find[protocol.TurnEndedData](g, protocol.TurnEnded); d.Reason != want {
			t.Fatalf("%s: ended %+v", decision, d)
		}
		if g.State.Status() != protocol.Idle || agentlooptest.ResultOf[protocol.ApproveResult](g).Decision != decision {
			t.Fatalf("%s: %+v", decision, g.Answer())
		}
		g.Send(protocol.DoApprove, protocol.ApproveData{Request: "a1", Decision: decision})
		if a := g.Answer(); a.Error.Code != protocol.CodeConflict || a.Error.Winner.By.Name != "ada" {
			t.Fatalf("again: %+v", a.Error)
		}
	}
}

// AL-20: a patch is sent back, edited or not.
func TestPatchGoesBack(t *testing.T) {
	g := newClientHarness(t, "ws://x", nil)
	g.Receive(agentlooptest.Loads(true), `{"id":"q","type":"approval_request","payload":{"command":["apply_patch","p"],"applyPatch":{"patch":"*** Begin Patch\n*** Update File: src/a.ts\n*** End Patch"}}}`)
	a := g.State.Approvals[0]
	if a.Kind != protocol.ApprovePatch || !slices.Equal(a.Paths, []string{"src/a.ts"}) {
		t.Fatalf("approval %+v", a)
	}
	g.Send(protocol.DoApprove, protocol.ApproveData{
		Decision: protocol.AllowOnce,
		Input:    &protocol.ApprovalInput{Patch: "mine"},
	})
	if got := string(g.Sent[0].Payload); got != `{"review":"yes","applyPatch":{"patch":"mine"},"customDenyMessage":null}` {
		t.Fatal(got)
	}
}

// Input that an answer cannot carry is not offered, and refused: only an edited patch of an
// editable request is accepted.
func TestOnlyWhatGoesBackMayBeEdited(t *testing.T) {
	const patch = "*** Begin Patch\n*** Delete File: a\n*** End Patch"
	long := "*** Begin Patch\n" + strings.Repeat("+x\n", maxText) + "*** End Patch"
	for name, c := range map[string]struct {
		asks     wire.ApprovalRequest
		editable bool
	}{
		"a patch": {wire.ApprovalRequest{Command: []string{"apply_patch", patch}, ApplyPatch: &wire.ApplyPatch{Patch: patch}}, true},
		"one to be taken": {wire.ApprovalRequest{
			Command:    []string{"apply_patch", patch},
			ApplyPatch: &wire.ApplyPatch{Patch: patch, ReadOnly: true},
		}, false},
		"one in the command":  {wire.ApprovalRequest{Command: []string{"apply_patch", patch}, ApplyPatch: nil}, false},
		"one shown in part":   {wire.ApprovalRequest{Command: []string{"apply_patch", long}, ApplyPatch: &wire.ApplyPatch{Patch: long}}, false},
		"a command, no patch": {wire.ApprovalRequest{Command: []string{"ls"}, ApplyPatch: nil}, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := newClientHarness(t, "ws://x", nil)
			g.Receive(agentlooptest.Loads(true), string(wire.EncodeMessage("q", wire.ApprovalRequestType, c.asks).Data))
			if a := g.State.Approvals[0]; a.Editable != c.editable {
				t.Errorf("editable: %v", a.Editable)
			}
			answers := protocol.ApproveData{
				Decision: protocol.AllowOnce,
				Input:    &protocol.ApprovalInput{Answers: map[string][]string{"q": {"a"}}},
			}
			if g.Send(protocol.DoApprove, answers); g.Code() != protocol.CodeUnsupported {
				t.Errorf("answers to a question: %q", g.Code())
			}
			command := protocol.ApproveData{
				Decision: protocol.AllowOnce, Input: &protocol.ApprovalInput{Command: "ls"},
			}
			if g.Send(protocol.DoApprove, command); g.Code() != protocol.CodeUnsupported {
				t.Errorf("an edited command: %q", g.Code())
			}
			g.Send(protocol.DoApprove, protocol.ApproveData{
				Decision: protocol.AllowOnce,
				Input:    &protocol.ApprovalInput{Patch: "mine"},
			})
			if c.editable {
				if len(g.Sent) != 1 {
					t.Errorf("the edited patch was not sent: %q", g.Code())
				}
			} else if g.Code() != protocol.CodeUnsupported || len(g.Sent) != 0 {
				t.Errorf("sent %v, answered %q", g.Sent, g.Code())
			}
		})
	}
}

// A decision that the server refuses is answered with its reason.
func TestRefusedDecision(t *testing.T) {
	g := newClientHarness(t, "ws://x", nil)
	g.Receive(agentlooptest.Loads(true), agentlooptest.Request)
	g.Send(protocol.DoApprove, protocol.ApproveData{Decision: protocol.AllowOnce})
	g.Receive(`{"id":"e","type":"error","payload":{"message":"No pending approval request"}}`)
	if g.Code() != protocol.CodeConflict || len(g.State.Approvals) != 0 {
		t.Fatalf("%+v, pending %v", g.Answer(), g.State.Approvals)
	}
	if d := agentlooptest.Find[protocol.ApprovalResolvedData](g, protocol.ApprovalResolved); d.Outcome != protocol.Cancelled {
		t.Fatalf("resolved %+v", d)
	}
	g.Receive(agentlooptest.Request)
	g.Send(protocol.DoApprove, protocol.ApproveData{Decision: protocol.Explain})
	g.Receive(`{"id":"e","type":"error","payload":{"message":"Failed to process approval response","details":{"error":"no","code":"unsupported"}}}`, agentlooptest.Request)
	if g.Code() != protocol.CodeUnsupported || len(g.State.Approvals) != 1 {
		t.Fatalf("%+v, pending %v", g.Answer(), g.State.Approvals)
	}
}

// AL-4, AL-13, AL-14.
func TestContextAndCompact(t *testing.T) {
	g := newClientHarness(t, "ws://x", nil)
	g.Send(protocol.DoContext, nil)
	g.Receive(`{"id":"c","type":"context_info","payload":{"tokenCount":45231,"usagePercent":35.4,"transcriptLength":87,"maxTokens":128000,"strategy":"T"}}`)
	if r := agentlooptest.ResultOf[protocol.ContextResult](g); r.Context.Tokens != 45231 || r.Context.Percent != 35.4 ||
		*g.State.Context != r.Context {
		t.Fatalf("context %+v", r)
	}
	g.Send(protocol.DoCompact, nil)
	g.Receive(`{"id":"c","type":"context_compacted","payload":{"oldTokenCount":100,"newTokenCount":20,"reductionPercent":80,"strategy":"T"}}`)
	if r := agentlooptest.ResultOf[protocol.CompactResult](g); r.Compacted.Before != 100 || r.Compacted.Automatic {
		t.Fatalf("compact %+v", r)
	}
	g.Receive(`{"id":"c","type":"context_compacted","payload":{"oldTokenCount":100,"newTokenCount":20,"reductionPercent":80,"strategy":"T"}}`)
	if d := agentlooptest.Find[protocol.ContextCompactedData](g, protocol.ContextCompacted); !d.Automatic {
		t.Fatalf("compacted %+v", d)
	}
	g.Send(protocol.DoContext, nil)
	g.Receive(`{"id":"e","type":"error","payload":{"message":"AgentLoop not initialized","details":null}}`)
	if g.Code() != protocol.CodeAgentFailed {
		t.Fatalf("%+v", g.Answer())
	}
	g.Send(protocol.DoContext, nil)
	g.Advance(contextTimeout)
	if g.Code() != protocol.CodeTimeout {
		t.Fatalf("%+v", g.Answer())
	}
}

// AL-10, AL-15, AL-24, AL-30: a turn fails if an error is the last thing in it.
func TestErrorsInATurn(t *testing.T) {
	const fault = `{"id":"e","type":"error","payload":{"message":"Failed to process user input","details":{"error":"Rate limit exceeded","code":429}}}`
	g := newClientHarness(t, "ws://x", nil)
	g.Receive(agentlooptest.Loads(true), fault, agentlooptest.Loads(false))
	d := agentlooptest.Find[protocol.TurnEndedData](g, protocol.TurnEnded)
	if d.Reason != protocol.ReasonError || d.Message != "Failed to process user input: Rate limit exceeded" {
		t.Fatalf("ended %+v", d)
	}
	if e := agentlooptest.Find[protocol.ErrorData](g, protocol.ErrorRaised); e.Details["provider_status"] != "429" {
		t.Fatalf("error %+v", e)
	}
	g.Receive(agentlooptest.Loads(true), fault, agentlooptest.Response(`{"type":"message","role":"assistant","content":"here"}`), agentlooptest.Loads(false))
	if d := agentlooptest.Find[protocol.TurnEndedData](g, protocol.TurnEnded); d.Reason != protocol.ReasonCompleted {
		t.Fatalf("ended %+v", d)
	}
}

func TestRefusedMessageIsAnswered(t *testing.T) {
	g := newClientHarness(t, "ws://x", nil)
	g.SendKeyed(protocol.DoSend, "k", protocol.SendData{Text: "hi"})
	g.Receive(`{"id":"e","type":"error","payload":{"message":"Failed to process user input","details":{"error":"closed","code":"session_closed"}}}`)
	if g.Code() != protocol.CodeSessionClosed {
		t.Fatalf("%+v", g.Answer())
	}
	g.SendKeyed(protocol.DoSend, "k", protocol.SendData{Text: "hi"})
	if len(g.Sent) != 2 {
		t.Fatal("a refused message is not sent again")
	}
}

// AL-9: system messages are notices; other roles and kinds are kept raw.
func TestWhatIsNotTheAgentsIsKept(t *testing.T) {
	g := newClientHarness(t, "ws://x", nil)
	g.Receive(agentlooptest.Response(`{"type":"message","role":"system","content":[{"type":"input_text","text":"⚠️ Network error"}]}`))
	if d := agentlooptest.Find[protocol.NoticeData](g, protocol.Notice); d.Level != protocol.LevelWarning ||
		d.Message != "Network error" {
		t.Fatalf("notice %+v", d)
	}
	for _, f := range []string{
		`{"id":"1","type":"brand_new","payload":{"x":1}}`, `not JSON`, `{"id":"1","type":"response_item"}`, `[1]`,
		agentlooptest.Response(`{"type":"web_search_call","id":"w"}`),
		agentlooptest.Response(`{"type":"message","role":"developer","content":"x"}`),
		agentlooptest.Response(`{"type":"message","role":"assistant","content":[{"type":"input_image","image_url":"u"}]}`), agentlooptest.Response(`7`),
		`{"id":"1","type":"approval_request","payload":{"command":"ls"}}`,
		`{"id":"1","type":"loading_state","payload":{}}`,
	} {
		before := len(g.Events)
		g.Receive(f)
		if n := len(g.Events); n != before+1 || g.Events[n-1].Type != protocol.Raw {
			t.Fatalf("%s: %v", f, g.Types())
		}
		if d := agentlooptest.Find[protocol.RawData](g, protocol.Raw); d.Source != wire.Name || len(d.Data) == 0 {
			t.Fatalf("%s: %+v", f, d)
		}
	}
}

// at agentctl's server a message during a turn is queued, and starts with its echo.
func TestQueuedMessages(t *testing.T) {
	g := newAgentctlHarness(t, nil)
	g.Send(protocol.DoSend, protocol.SendData{Text: "one"})
	g.Receive(agentlooptest.Loads(true), echoOf("one"))
	g.Send(protocol.DoSend, protocol.SendData{Text: "two"})
	if g.Answer() != nil || len(g.State.Queue) > 0 {
		t.Fatalf("answered %+v before the server has it", g.Answer())
	}
	g.Receive(queuedAs(g))
	if r := agentlooptest.ResultOf[protocol.SendResult](g); r.Status != protocol.SendQueued || *r.Index != 0 ||
		len(g.State.Queue) != 1 {
		t.Fatalf("send: %+v", r)
	}
	g.Receive(agentlooptest.Loads(false), agentlooptest.Loads(true), agentlooptest.Response(`{"type":"message","role":"user","content":"another user"}`))
	if g.State.Turn.Message.Text != "another user" || len(g.State.Queue) != 1 {
		t.Fatalf("turn %+v", g.State.Turn)
	}
	g.Receive(agentlooptest.Loads(false), agentlooptest.Loads(true), agentlooptest.Response(`{"type":"message","role":"user","content":"two"}`))
	if g.State.Turn.Message.Text != "two" || len(g.State.Queue) != 0 {
		t.Fatalf("turn %+v, queue %+v", g.State.Turn, g.State.Queue)
	}
}

// At agentctl's server a message behind another user's message is queued.
func TestMessageBehindSomebodyElses(t *testing.T) {
	g := newAgentctlHarness(t, nil)
	g.Send(protocol.DoSend, protocol.SendData{Text: "mine"})
	g.Receive(agentlooptest.Loads(true), echoOf("theirs"))
	if g.Answer() != nil {
		t.Fatalf("answered %+v before the server has it", g.Answer())
	}
	g.Receive(queuedAs(g))
	if r := agentlooptest.ResultOf[protocol.SendResult](g); r.Status != protocol.SendQueued || len(g.State.Queue) != 1 {
		t.Fatalf("send: %+v", r)
	}
}

// queuedAs returns the report of agentctl's server that the newest message is queued.
func queuedAs(g *agentlooptest.Client) string {
	it := wire.NewMessageItem("s", wire.System, "Queued.")
	return string(wire.EncodeMessage(g.Sent[len(g.Sent)-1].ID, wire.ResponseItemType, it).Data)
}

// At agentctl's server, a turn without a message does not belong to the client's message: it may be
// another user's, whose echo is late.
func TestATurnWithoutItsMessageAcknowledgesNone(t *testing.T) {
	g := newAgentctlHarness(t, nil)
	g.Send(protocol.DoSend, protocol.SendData{Text: "mine"})
	g.Receive(agentlooptest.Loads(true))
	g.Advance(echoTimeout)
	if g.Answer() != nil {
		t.Fatalf("answered %+v without its echo", g.Answer())
	}
	g.Receive(echoOf("mine"))
	if r := agentlooptest.ResultOf[protocol.SendResult](g); r.Status != protocol.SendStarted || r.Turn != g.State.Turn.Turn {
		t.Fatalf("send: %+v", r)
	}
}

// At agentctl's server an error answers the message whose id it has, also during a turn.
func TestAnErrorAnswersItsMessage(t *testing.T) {
	g := newAgentctlHarness(t, nil)
	g.Send(protocol.DoSend, protocol.SendData{Text: "one"})
	g.Receive(agentlooptest.Loads(true), echoOf("one"))
	first := g.Send(protocol.DoSend, protocol.SendData{Text: "two"})
	id := g.Sent[len(g.Sent)-1].ID
	g.Send(protocol.DoSend, protocol.SendData{Text: "three"})
	g.Receive(`{"id":"` + id + `","type":"error","payload":{"message":"Failed to process user input",` +
		`"details":{"error":"full","code":"queue_full"}}}`)
	if first != nil || g.Answer() != nil || g.State.Turn == nil {
		t.Fatalf("answers %+v, %+v; turn %+v", first, g.Answer(), g.State.Turn)
	}
	a := g.Answers[fmt.Sprint(g.CommandCount-1)]
	if a == nil || a.Error == nil || a.Error.Code != protocol.CodeQueueFull {
		t.Fatalf("the refused message is answered %+v", a)
	}
}

// The first commands are answered when the current turn is known.
func TestFirstCommandsWaitForTheTurnUnderWay(t *testing.T) {
	g := agentlooptest.Dial(t, openClient, codec.ClientOptions{URL: "ws://x"})
	g.State = new(protocol.State)
	g.Send(protocol.DoSnapshot, nil)
	g.Advance(quietTimeout - 1)
	g.Receive(agentlooptest.Loads(true))
	g.Advance(1)
	g.Receive(agentlooptest.Request)
	if g.Answer() != nil {
		t.Fatal("answered too early")
	}
	g.Advance(moreTimeout)
	if r := agentlooptest.ResultOf[protocol.SnapshotResult](g); r.Status != protocol.Waiting {
		t.Fatalf("status %s", r.Status)
	}
}

// A message with a key is sent once. If the connection broke before the server confirmed it, it is
// not sent again.
func TestKeys(t *testing.T) {
	memory := new(codec.ClientState)
	g := newClientHarness(t, "ws://x", memory)
	g.SendKeyed(protocol.DoSend, "k1", protocol.SendData{Text: "one"})
	g.Receive(agentlooptest.Loads(true), agentlooptest.Response(`{"type":"message","role":"assistant","content":"x"}`))
	first := agentlooptest.ResultOf[protocol.SendResult](g)
	g.SendKeyed(protocol.DoSend, "k1", protocol.SendData{Text: "one"})
	if again := agentlooptest.ResultOf[protocol.SendResult](g); again != first || len(g.Sent) != 1 {
		t.Fatalf("again: %+v", again)
	}
	g.SendKeyed(protocol.DoSend, "k1", protocol.SendData{Text: "other"})
	if g.Code() != protocol.CodeKeyReused {
		t.Fatalf("%+v", g.Answer())
	}
	g.Receive(agentlooptest.Loads(false))
	g.SendKeyed(protocol.DoSend, "k2", protocol.SendData{Text: "two"})

	g = newClientHarness(t, "ws://x", memory)
	g.SendKeyed(protocol.DoSend, "k2", protocol.SendData{Text: "two"})
	g.Receive(agentlooptest.Loads(true), agentlooptest.Response(`{"type":"message","role":"user","content":"two"}`))
	if r := agentlooptest.ResultOf[protocol.SendResult](g); r.Status != protocol.SendStarted || len(g.Sent) != 0 {
		t.Fatalf("send: %+v, sent %v", r, g.Sent)
	}
	g.Receive(agentlooptest.Loads(false))
	g.SendKeyed(protocol.DoSend, "k3", protocol.SendData{Text: "three"})

	g = newClientHarness(t, "ws://x", memory)
	g.SendKeyed(protocol.DoSend, "k3", protocol.SendData{Text: "three"})
	g.Receive(agentlooptest.Loads(true), agentlooptest.Response(`{"type":"reasoning"}`)) // without an echo: possibly another user's
	if g.Answer() != nil {
		t.Fatalf("send: %+v", g.Answer())
	}
	g.Advance(startTimeout)
	if g.Code() != protocol.CodeTimeout || len(g.Sent) != 0 {
		t.Fatalf("%+v, sent %v", g.Answer(), g.Sent)
	}
}

// A position of an earlier connection gets a reset, one of this connection a resume.
func TestPositions(t *testing.T) {
	g := newClientHarness(t, "ws://x", nil)
	g.Receive(agentlooptest.Loads(true), agentlooptest.Response(`{"type":"message","role":"assistant","content":"x"}`))
	at := protocol.Position{Epoch: codecOf(g).session.log.Epoch, Seq: g.State.Seq - 1}
	if a := g.Send(protocol.DoSubscribe, protocol.SubscribeData{Position: &protocol.Position{
		Epoch: "old",
		Seq:   9,
	}}); !strings.Contains(string(a.Result), protocol.ResetResubscribed) {
		t.Fatalf("%s", a.Result)
	}
	g.State = &protocol.State{Seq: at.Seq}
	if a := g.Send(protocol.DoSubscribe, protocol.SubscribeData{Position: &at}); !strings.Contains(string(a.Result),
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
		g.Send(c.Verb, nil)
		if a := g.Answer(); a == nil || a.Error == nil || a.Error.Code != protocol.CodeUnsupported ||
			!strings.Contains(a.Error.Message, wire.Name) {
			t.Fatalf("%s: %+v", c.Verb, a)
		}
	}
	own := newAgentctlHarness(t, nil)
	own.Send(protocol.DoSend, protocol.SendData{Text: "x", Front: true})
	if own.Code() != protocol.CodeUnsupported {
		t.Fatalf("%+v", own.Answer())
	}
	g.Deliver(g.Codec.Native(g.Now, []byte(`{"id":"z","command":"snapshot","session":"other"}`)))
	if g.Answers["z"].Error.Code != protocol.CodeNoSession {
		t.Fatalf("%+v", g.Answers["z"])
	}
}

func TestWatchTellsChanges(t *testing.T) {
	g := newClientHarness(t, "ws://x", nil)
	g.Send(protocol.DoWatch, nil)
	g.Send(protocol.DoList, nil)
	if r := agentlooptest.ResultOf[protocol.ListResult](g); len(r.Sessions) != 1 || r.Sessions[0].Status != protocol.Idle {
		t.Fatalf("list %+v", r)
	}
	for _, e := range g.Events {
		if e.Type == protocol.SummaryChanged {
			t.Errorf("published without a change: %s", e.Data)
		}
	}
	g.Receive(agentlooptest.Loads(true), agentlooptest.Request)
	if d := agentlooptest.Find[protocol.Summary](g, protocol.SummaryChanged); d.Status != protocol.Waiting || d.Approvals != 1 {
		t.Fatalf("summary %+v", d)
	}
}

// Remembered keys are bounded. A refused message may be sent again with its key.
func TestKeysAreKeptAndBounded(t *testing.T) {
	x := codec.NewClientBase(codec.ClientOptions{ID: codectest.IDs()}, Responder)
	p := sends{x: &x, keys: &newResumeState().keys}
	for i := range 2 * maxKeys {
		p.remember(&protocol.Command{Key: fmt.Sprint("k", i)})
	}
	if _, ok := p.keys.Get(fmt.Sprint("k", 2*maxKeys-1)); p.keys.Len() != maxKeys || !ok {
		t.Errorf("%d keys", p.keys.Len())
	}
	refused := &protocol.Command{Key: "refused"}
	x.Run(codectest.Start, func() {
		p.reject(&pendingSend{cmd: refused, key: p.remember(refused)}, protocol.Errorf(protocol.CodeForbidden, "no"))
	})
	if _, ok := p.keys.Get("refused"); ok || p.keys.Len() != maxKeys-1 {
		t.Errorf("a refused command is remembered: %d keys", p.keys.Len())
	}
}

// An item's id is the part's id, even if it is long.
func TestALongIDIsStillOnePart(t *testing.T) {
	g := newClientHarness(t, "ws://x", nil)
	id := strings.Repeat("i", 1<<18)
	for _, text := range []string{"one ", "two"} {
		g.Receive(agentlooptest.Response(`{"type":"message","role":"assistant","id":"` + id +
			`","content":[{"type":"output_text","text":"` + text + `"}]}`))
	}
	starts := 0
	for _, e := range g.Events {
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
		g.Receive(agentlooptest.Loads(true), agentlooptest.Request, agentlooptest.Response(`{"type":"`+typ+`","call_id":"c","name":"shell","arguments":"{\"command\":[\"rm\",\"-rf\",\"x y\"]}","action":{"command":["rm","-rf","x y"]}}`))
		if len(g.State.Approvals) != 1 {
			t.Fatalf("%s: the call alone ended the request", typ)
		}
		g.Receive(agentlooptest.Response(`{"type":"` + typ + `_output","call_id":"c","output":"{\"output\":\"ok\",\"metadata\":{\"exit_code\":0}}"}`))
		if d := agentlooptest.Find[protocol.ApprovalResolvedData](g, protocol.ApprovalResolved); d.Outcome != protocol.Allowed ||
			len(g.State.Approvals) != 0 {
			t.Fatalf("%s: resolved %+v", typ, d)
		}
		if types := g.Types(); types[len(types)-1] != protocol.ToolEnded {
			t.Fatalf("%s: %v", typ, types)
		}
	}
}

// The output of a call without a title does not decide a patch.
func TestAnotherCallDecidesNothing(t *testing.T) {
	g := newClientHarness(t, "ws://x", nil)
	g.Receive(agentlooptest.Loads(true), agentlooptest.Response(`{"type":"function_call","call_id":"c","name":"","arguments":"{}"}`),
		`{"id":"q","type":"approval_request","payload":{"command":["apply_patch","p"],"applyPatch":{"patch":"p"}}}`,
		agentlooptest.Response(`{"type":"function_call_output","call_id":"c","output":"done"}`))
	if len(g.State.Approvals) != 1 {
		t.Errorf("it is over: %+v", agentlooptest.Find[protocol.ApprovalResolvedData](g, protocol.ApprovalResolved))
	}
}

// No message of a user is dropped: a late echo becomes a notice.
func TestLateEchoIsKept(t *testing.T) {
	g := newClientHarness(t, "ws://x", nil)
	g.Receive(agentlooptest.Loads(true), agentlooptest.Response(`{"type":"reasoning"}`),
		agentlooptest.Response(`{"type":"message","role":"user","content":"who said that"}`))
	if d := agentlooptest.Find[protocol.NoticeData](g, protocol.Notice); d.Message != "Told the agent: who said that" {
		t.Fatalf("notice %+v", d)
	}
}

// Outputs of calls without a start, that are not the document's JSON, or that are cut off.
func TestOutputsAsTheyCome(t *testing.T) {
	g := newClientHarness(t, "ws://x", nil)
	g.Receive(agentlooptest.Loads(true), agentlooptest.Response(`{"type":"function_call_output","call_id":"c","output":"plain"}`))
	g.ExpectTypes(protocol.MessageUser, protocol.TurnStarted, protocol.ToolStarted, protocol.ToolOutput,
		protocol.ToolEnded)
	if d := agentlooptest.Find[protocol.ToolOutputData](g, protocol.ToolOutput); d.Text != "plain" {
		t.Fatalf("output %+v", d)
	}
	g.Receive(agentlooptest.Response(`{"type":"function_call_output","call_id":"d","output":"{\"output\":\"half\\naborted\",\"metadata\":{}}"}`))
	if d := agentlooptest.Find[protocol.ToolEndedData](g, protocol.ToolEnded); d.Status != protocol.ToolCancelled || d.Tool != "d" {
		t.Fatalf("ended %+v", d)
	}
	if d := agentlooptest.Find[protocol.ToolOutputData](g, protocol.ToolOutput); d.Text != "half" {
		t.Fatalf("output %+v", d)
	}
	g.Receive(agentlooptest.Response(`{"type":"function_call","call_id":"e","name":"read","arguments":"not JSON"}`))
	if d := agentlooptest.Find[protocol.ToolStartedData](g, protocol.ToolStarted); string(d.Input) != `"not JSON"` {
		t.Fatalf("started %+v", d)
	}
}

func TestAFileThatIsNeitherTextNorAnImageIsRefused(t *testing.T) {
	g := newClientHarness(t, "ws://x/s", nil)
	g.Send(protocol.DoSend, protocol.SendData{Text: "see", Parts: []protocol.Part{
		{Type: "file", Name: "a.zip", URL: "data:application/zip;base64,UEs="},
	}})
	if got := g.Code(); got != protocol.CodeUnsupported || len(g.Sent) > 0 {
		t.Errorf("code %q, sent %v", got, g.Sent)
	}
	g.Send(protocol.DoSend, protocol.SendData{Text: "see", Parts: []protocol.Part{
		{Type: "file", Name: "a.txt", Text: "words"}, {Type: "image", URL: "data:image/png;base64,QQ=="},
	}})
	if len(g.Sent) != 1 || !strings.Contains(string(g.Sent[0].Payload), "words") {
		t.Errorf("sent %v", g.Sent)
	}
}
