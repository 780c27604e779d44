package server

import (
	"strings"
	"testing"
	"time"

	"agentctl/internal/dev/agentlooptest"
	"agentctl/internal/dev/codectest"
	"agentctl/protocol"
	"agentctl/protocol/agentloop/wire"
	"agentctl/protocol/codec"
)

// AL-1, AL-15, AL-27: an invalid message gets an error, and the connection stays open.
func TestBadMessagesAreAnsweredWithAnError(t *testing.T) {
	h := newServerHarness(t, "", true)
	for frame, want := range map[string]string{
		`{`:                              `error {"message":"Invalid message format","details":{}}`,
		`[]`:                             `error {"message":"Invalid message format","details":{}}`,
		`{"type":"user_input"}`:          `error {"message":"Invalid message format","details":{}}`,
		`{"id":null,"type":"x"}`:         `error {"message":"Invalid message format","details":{}}`,
		`{"id":1,"type":"user_input"}`:   `error {"message":"Invalid message format","details":{}}`,
		`{"id":"1","type":"bogus"}`:      `error {"message":"Unknown message type: bogus"}`,
		`{"id":"1","type":"user_input"}`: `error {"message":"Failed to process user input","details":{"error":"validation","fields":["input"]}}`,
		`{"id":"1","type":"user_input","payload":{"input":[]}}`:            `error {"message":"Failed to process user input","details":{"error":"validation","fields":["input"]}}`,
		`{"id":"1","type":"user_input","payload":{"input":[7]}}`:           `error {"message":"Failed to process user input","details":{"error":"validation","fields":["input"]}}`,
		`{"id":"1","type":"approval_response","payload":{"review":"si"}}`:  `error {"message":"Invalid message format","details":{"error":"validation","fields":["review"]}}`,
		`{"id":"1","type":"approval_response","payload":{"review":"yes"}}`: `error {"message":"No pending approval request"}`,
	} {
		h.Receive(frame)
		h.ExpectMessages(want)
	}
	h.Receive(agentlooptest.Input("hello"))
	if d := agentlooptest.Last[protocol.SendData](h, protocol.DoSend); d.Text != "hello" {
		t.Fatalf("sent %q", d.Text)
	}
}

// The last segment of the path names the session; the first input creates it.
func TestFirstInputCreatesTheSessionThatThePathNames(t *testing.T) {
	for path, name := range map[string]string{
		"": "agentloop", "/": "agentloop", "/ws/abc123": "abc123",
		"/abc/": "abc",
	} {
		h := newServerHarness(t, path, false)
		h.Receive(`{"id":"1","type":"manual_compact"}`)
		h.ExpectMessages(`error {"message":"AgentLoop not initialized","details":null}`)
		h.Receive(agentlooptest.Input("one"))
		if d := agentlooptest.Last[protocol.CreateData](h, protocol.DoCreate); d.Name != name || d.Agent != "claude" {
			t.Fatalf("created %+v", d)
		}
		if d := agentlooptest.Last[protocol.SendData](h, protocol.DoSend); d.Text != "one" {
			t.Fatalf("sent %q", d.Text)
		}
		h.Receive(agentlooptest.Input("two"))
		if len(h.Commands) != 3 {
			t.Fatalf("received %v", h.Commands)
		}
	}
}

// AL-2: previousResponseId is ignored; content that is not text is kept as a part.
func TestInputIsReadWhole(t *testing.T) {
	h := newServerHarness(t, "", true)
	h.Receive(`{"id":"1","type":"user_input","payload":{"previousResponseId":"resp_1","input":[
		{"type":"message","role":"user","content":[{"type":"input_text","text":"see\u0007 this"},{"type":"input_image","image_url":"http://x/y.png"}]},
		{"type":"message","role":"user","content":"and that"}]}}`)
	d := agentlooptest.Last[protocol.SendData](h, protocol.DoSend)
	if d.Text != "see this\nand that" || len(d.Parts) != 1 || d.Parts[0].Type != "image" ||
		d.Parts[0].URL != "http://x/y.png" {
		t.Fatalf("sent %+v", d)
	}
	if d.ClientMessageID != "1" {
		t.Fatalf("client message id %q", d.ClientMessageID)
	}
}

// AL-6, AL-8, AL-10, AL-12, AL-16, AL-22: loading true, items, loading false, agent_finished.
func TestPlainTurn(t *testing.T) {
	h := newServerHarness(t, "", true)
	h.Record(agentlooptest.Asks("check git"),
		agentlooptest.Entry(protocol.TurnStarted, protocol.TurnStartedData{MessageID: "m1"}),
		agentlooptest.Entry(protocol.ReasoningStart, protocol.PartStartData{Part: "r"}),
		agentlooptest.Entry(protocol.ReasoningDelta, protocol.PartDeltaData{Part: "r", Text: "I should "}),
		agentlooptest.Entry(protocol.ReasoningDelta, protocol.PartDeltaData{Part: "r", Text: "look"}),
		agentlooptest.Entry(protocol.ReasoningEnd, protocol.PartEndData{Part: "r"}),
		agentlooptest.Speaks("p", "I'll "), agentlooptest.Speaks("p", "check"),
		agentlooptest.Entry(protocol.ToolStarted, protocol.ToolStartedData{
			Tool: "c1", Name: "shell",
			Input: []byte(`{"command":["git","status"]}`),
		}),
		agentlooptest.Entry(protocol.ToolOutput, protocol.ToolOutputData{Tool: "c1", Text: "clean"}),
		agentlooptest.Entry(protocol.ToolEnded, protocol.ToolEndedData{Tool: "c1", Status: protocol.ToolCompleted, DurationMS: 100}),
		agentlooptest.Speaks("p2", "done"), agentlooptest.Ends(protocol.ReasonCompleted))
	h.ExpectMessages(`loading_state {"loading":true}`, "user: check git", "reasoning: I should look",
		"assistant: I'll ", "assistant: check",
		`call c1 shell {"command":["git","status"]}`,
		`function_call_output c1 {"output":"clean","metadata":{"exit_code":0,"duration_seconds":0.1}}`,
		"assistant: done", `loading_state {"loading":false}`, `agent_finished {"responseId":"t1"}`)
}

// AL-10, AL-16, AL-30: after an error, loading false comes without agent_finished.
func TestFailedTurn(t *testing.T) {
	h := newServerHarness(t, "", true)
	h.Record(agentlooptest.Asks("x"), agentlooptest.Entry(protocol.TurnEnded,
		protocol.TurnEndedData{Reason: protocol.ReasonError, Code: protocol.CodeAgentFailed, Message: "no answer"}))
	h.ExpectMessages(`loading_state {"loading":true}`, "user: x", "system: ⚠️ no answer",
		`error {"message":"Failed to process user input","details":{"error":"no answer","code":"agent_failed"}}`, `loading_state {"loading":false}`)
}

// AL-9, AL-15, AL-30: a recoverable error is a warning in the transcript, any other an error with
// its status.
func TestFaultsAreTold(t *testing.T) {
	h := newServerHarness(t, "", true)
	h.Record(agentlooptest.Asks("x"),
		agentlooptest.Entry(protocol.ErrorRaised, protocol.ErrorData{
			Kind: protocol.ErrorKindExecution, Message: "network",
			Recoverable: true,
		}),
		agentlooptest.Entry(protocol.RetryScheduled, protocol.RetryData{Attempt: 1, Limit: 5, Cause: "HTTP 503"}),
		agentlooptest.Entry(protocol.ErrorRaised, protocol.ErrorData{
			Kind: protocol.ErrorKindExecution, Message: "Rate limit exceeded",
			Details: map[string]string{"provider_status": "429", "path": "/secret"},
		}), agentlooptest.Ends(protocol.ReasonError))
	h.ExpectMessages(`loading_state {"loading":true}`, "user: x", "system: ⚠️ network",
		"system: ⚠️ HTTP 503; trying again (1 of 5)", "system: ⚠️ Rate limit exceeded",
		`error {"message":"Failed to process user input","details":{"error":"Rate limit exceeded","code":429}}`, `loading_state {"loading":false}`)
}

// AL-11, AL-16, AL-17: the request comes before its call, the call after the answer.
func TestApprovalComesBeforeItsCall(t *testing.T) {
	h := newServerHarness(t, "", true)
	h.Record(agentlooptest.Asks("x"), agentlooptest.Speaks("p", "cleaning"),
		agentlooptest.Entry(protocol.ToolStarted, protocol.ToolStartedData{
			Tool: "c1", Name: "shell",
			Input: []byte(`{"command":["rm","-rf","b"]}`),
		}),
		agentlooptest.Entry(protocol.UsageUpdated, protocol.Usage{Input: 5}),
		agentlooptest.Entry(protocol.ContextUpdated, protocol.ContextInfo{
			Tokens: 5, MaxTokens: 100, Percent: 5, TranscriptLength: 1, Strategy: "t",
		}),
		agentlooptest.Wants("a1", "rm -rf b", "c1"))
	h.ExpectMessages(`loading_state {"loading":true}`, "user: x", "assistant: cleaning",
		`context_info {"tokenCount":5,"usagePercent":5,"transcriptLength":1,"maxTokens":100,"strategy":"t"}`,
		`approval_request {"command":["rm","-rf","b"]}`)
	h.Advance(time.Minute)
	h.Record(agentlooptest.Speaks("p", "..."))
	h.ExpectMessages("assistant: ...")
	h.Receive(agentlooptest.Review("yes"))
	if d := agentlooptest.Last[protocol.ApproveData](h, protocol.DoApprove); d.Decision != protocol.AllowOnce || d.Request != "a1" {
		t.Fatalf("decided %+v", d)
	}
	h.Record(agentlooptest.Resolves("a1", protocol.Allowed, "agentloop@peer"),
		agentlooptest.Entry(protocol.ToolEnded, protocol.ToolEndedData{Tool: "c1", Status: protocol.ToolFailed}))
	h.ExpectMessages(`call c1 shell {"command":["rm","-rf","b"]}`, `function_call_output c1 {"output":"","metadata":{"exit_code":1,"duration_seconds":0}}`)
	h.Receive(agentlooptest.Review("yes"))
	h.ExpectMessages(`error {"message":"No pending approval request"}`)
}

// A call without an approval is sent after a moment, even if nothing else happens.
func TestLongCallIsToldBeforeItsEnd(t *testing.T) {
	h := newServerHarness(t, "", true)
	h.Record(agentlooptest.Asks("x"), agentlooptest.Entry(protocol.ToolStarted, protocol.ToolStartedData{Tool: "c1", Name: "shell"}))
	h.SentMessages()
	h.Advance(callDelay)
	h.ExpectMessages(`call c1 shell {}`)
	if !h.Wake.IsZero() {
		t.Fatal("still to be woken")
	}
}

// AL-17, AL-18, AL-19: every review is a decision, and its text reaches the agent.
func TestReviewsAreDecisions(t *testing.T) {
	for word, want := range map[string]protocol.Decision{
		"yes": protocol.AllowOnce, "always": protocol.AllowAlways, "no-continue": protocol.Deny,
		"no-exit": protocol.DenyStop, "explain": protocol.Explain,
	} {
		h := newServerHarness(t, "", true)
		h.Record(agentlooptest.Asks("x"), agentlooptest.Wants("a1", "ls", ""))
		h.Receive(`{"id":"1","type":"approval_response","payload":{"review":"` + word +
			`","customDenyMessage":"not now","explanation":null}}`)
		if d := agentlooptest.Last[protocol.ApproveData](h, protocol.DoApprove); d.Decision != want || d.Reason != "not now" {
			t.Fatalf("%s: %+v", word, d)
		}
	}
}

// AL-19: the explanation is a message of the agent, and the request is repeated.
func TestExplainAsksAgain(t *testing.T) {
	h := newServerHarness(t, "", true)
	h.Record(agentlooptest.Asks("x"), agentlooptest.Wants("a1", "ls", ""))
	h.Receive(agentlooptest.Review("explain"))
	h.SentMessages()
	h.Record(agentlooptest.Entry(protocol.ApprovalExplained, protocol.ApprovalExplainedData{Request: "a1", Text: "it lists"}))
	h.ExpectMessages("assistant: it lists", `approval_request {"command":["ls"]}`)
	h.Receive(agentlooptest.Review("yes"))
	if d := agentlooptest.Last[protocol.ApproveData](h, protocol.DoApprove); d.Decision != protocol.AllowOnce {
		t.Fatalf("decided %+v", d)
	}
}

// AL-18: a command allowed by a rule is not asked, but the request behind it is.
func TestWhatARuleAllowsIsNotAsked(t *testing.T) {
	h := newServerHarness(t, "", true)
	h.Record(agentlooptest.Asks("x"), agentlooptest.Wants("a1", "ls", ""), agentlooptest.Entry(protocol.ApprovalResolved, protocol.ApprovalResolvedData{
		Request: "a1", Outcome: protocol.Allowed, Rule: &protocol.Rule{
			ID: "rule1", Kind: protocol.ApproveCommand,
			Subject: `{"command":"ls"}`,
		},
	}))
	h.SentMessages()
	h.Record(agentlooptest.Wants("a2", "ls", ""))
	h.ExpectMessages()
	h.Record(agentlooptest.Wants("a3", "rm", ""), agentlooptest.Entry(protocol.ApprovalResolved,
		protocol.ApprovalResolvedData{Request: "a2", Outcome: protocol.Allowed, ByRule: "rule1"}))
	h.ExpectMessages(`approval_request {"command":["rm"]}`)
}

// A refused decision repeats the request.
func TestRefusedDecisionIsAskedAgain(t *testing.T) {
	h := newServerHarness(t, "", true)
	h.Answer[protocol.DoApprove] = func(*protocol.Command) any {
		return protocol.Errorf(protocol.CodeUnsupported,
			"cannot explain")
	}
	h.Record(agentlooptest.Asks("x"), agentlooptest.Wants("a1", "ls", ""))
	h.SentMessages()
	h.Receive(agentlooptest.Review("explain"))
	h.ExpectMessages(`error {"message":"Failed to process approval response","details":{"error":"cannot explain","code":"unsupported"}}`,
		`approval_request {"command":["ls"]}`)
}

// AL-11, AL-20: a patch is shown in its format, and an edited one is accepted.
func TestPatchIsShownAndMayBeEdited(t *testing.T) {
	old := "a\nb\n"
	for name, a := range map[string]protocol.Approval{
		"as it is": {Editable: true, Patch: "*** Begin Patch\n*** Update File: f\n@@\n a\n-b\n+c\n*** End Patch"},
		"unified":  {Editable: true, Patch: "diff --git a/f b/f\nindex 1..2\n--- a/f\n+++ b/f\n@@\n a\n-b\n+c\n"},
		"diff":     {Content: []protocol.Content{{Type: "diff", Path: "f", Old: &old, New: "a\nc\n"}}},
	} {
		a.Request, a.Kind, a.Options = "a1", protocol.ApprovePatch, wire.ApprovalOptions()
		h := newServerHarness(t, "", true)
		h.Record(agentlooptest.Asks("x"), agentlooptest.Entry(protocol.ApprovalRequested, a))
		const patch = `*** Begin Patch\n*** Update File: f\n@@\n a\n-b\n+c\n*** End Patch`
		want := `approval_request {"command":["apply_patch","` + patch + `"],"applyPatch":{"patch":"` + patch + `"}}`
		if !a.Editable {
			want = strings.TrimSuffix(want, "}}") + `,"readOnly":true}}`
		}
		if got := h.SentMessages(); got[len(got)-1] != want {
			t.Fatalf("%s:\n%s\nwant\n%s", name, got[len(got)-1], want)
		}
		h.Receive(`{"id":"1","type":"approval_response","payload":{"review":"yes","applyPatch":{"patch":"` + patch + `"}}}`)
		if d := agentlooptest.Last[protocol.ApproveData](h, protocol.DoApprove); d.Input != nil {
			t.Fatalf("%s: input %+v of an unchanged patch", name, d.Input)
		}
		codecOf(h).session.view.shown.deciding = false
		h.Receive(`{"id":"1","type":"approval_response","payload":{"review":"yes","applyPatch":{"patch":"edited"}}}`)
		if d := agentlooptest.Last[protocol.ApproveData](h, protocol.DoApprove); d.Input == nil || d.Input.Patch != "edited" {
			t.Fatalf("%s: input %+v", name, d.Input)
		}
	}
}

// AL-21: one request is shown at a time, and an answer meant for the previous one decides nothing.
func TestOneRequestAtATime(t *testing.T) {
	h := newServerHarness(t, "", true)
	h.Record(agentlooptest.Asks("x"), agentlooptest.Wants("a1", "ls", ""), agentlooptest.Wants("a2", "rm x", ""))
	h.ExpectMessages(`loading_state {"loading":true}`, "user: x", `approval_request {"command":["ls"]}`)
	h.Record(agentlooptest.Resolves("a1", protocol.Denied, "grace"))
	h.ExpectMessages("system: Decided by grace: denied.", `approval_request {"command":["rm","x"]}`)
	h.Advance(minReviewTime / 2)
	h.Receive(agentlooptest.Review("yes"))
	h.ExpectMessages(`error {"message":"Another user has decided that request; this is another one"}`,
		`approval_request {"command":["rm","x"]}`)
	if len(h.Commands) != 0 {
		t.Fatalf("decided %v", h.Commands)
	}
	h.Receive(agentlooptest.Review("yes"))
	if d := agentlooptest.Last[protocol.ApproveData](h, protocol.DoApprove); d.Request != "a2" {
		t.Fatalf("decided %+v", d)
	}
}

// AL-4, AL-13, AL-14: context and compaction, with all their numbers.
func TestContextAndCompaction(t *testing.T) {
	h := newServerHarness(t, "", true)
	h.Answer[protocol.DoContext] = func(*protocol.Command) any {
		return protocol.ContextResult{Context: protocol.ContextInfo{Tokens: 10, Percent: 0.5}}
	}
	h.Receive(`{"id":"1","type":"get_context_info","payload":{}}`)
	h.ExpectMessages(`context_info {"tokenCount":10,"usagePercent":0.5,"transcriptLength":0,"maxTokens":0,"strategy":""}`)
	h.Receive(`{"id":"1","type":"manual_compact"}`)
	if c := h.Commands[1]; c.Command != protocol.DoCompact {
		t.Fatalf("received %s", c.Command)
	}
	h.Record(agentlooptest.BridgeEntry(protocol.ContextCompacted,
		protocol.ContextCompactedData{Before: 100, After: 20, Percent: 80, Strategy: "s"}))
	h.ExpectMessages(`context_compacted {"oldTokenCount":100,"newTokenCount":20,"reductionPercent":80,"strategy":"s"}`)
	h.Answer[protocol.DoCompact] = func(*protocol.Command) any {
		return protocol.Errorf(protocol.CodeUnsupported,
			"no")
	}
	h.Receive(`{"id":"1","type":"manual_compact"}`)
	h.ExpectMessages(`error {"message":"Failed to compact context","details":{"error":"no","code":"unsupported"}}`)
}

// a message during a turn is queued, and reported; a hold that the client could not
// release is released.
func TestQueuedInput(t *testing.T) {
	h := newServerHarness(t, "", true)
	at := 1
	h.Answer[protocol.DoSend] = func(*protocol.Command) any {
		return protocol.SendResult{Status: protocol.SendQueued, MessageID: "m2", Index: &at}
	}
	h.Receive(agentlooptest.Input("later"))
	h.ExpectMessages("system: Queued behind 1.")
	h.Record(agentlooptest.BridgeEntry(protocol.QueueHeld, protocol.Hold{ID: "h1", Reason: protocol.HoldUser}))
	h.Receive(agentlooptest.Input("later"))
	h.ExpectMessages("system: Queued: the queue is held.")
	h.Record(agentlooptest.BridgeEntry(protocol.QueueHeld, protocol.Hold{ID: "h2", Reason: protocol.HoldDenyStop}))
	h.Receive(agentlooptest.Input("later"))
	if d := agentlooptest.Last[protocol.QueueReleaseData](h, protocol.DoQueueRelease); d.Hold != "h2" {
		t.Fatalf("released %q", d.Hold)
	}
}

// An answer to a message has its id: agentctl's client pairs them by it.
func TestAnAnswerHasTheIDOfItsMessage(t *testing.T) {
	h := newServerHarness(t, "", true)
	h.Answer[protocol.DoSend] = func(*protocol.Command) any {
		return protocol.SendResult{Status: protocol.SendQueued, MessageID: "m2"}
	}
	for _, c := range []struct{ typ, payload, answer string }{
		{wire.UserInputType, `{"input":[{"type":"message","role":"user","content":"x"}]}`, wire.ResponseItemType},
		{wire.UserInputType, `{}`, wire.ErrorType},
		{wire.ApprovalResponseType, `{"review":"yes"}`, wire.ErrorType},
	} {
		h.Receive(`{"id":"q7","type":"` + c.typ + `","payload":` + c.payload + `}`)
		if m := h.Sent[len(h.Sent)-1]; m.ID != "q7" || m.Type != c.answer {
			t.Errorf("%s is answered by %s %q", c.payload, m.Type, m.ID)
		}
	}
}

// A client that connects during a turn gets the turn from its start, and the pending request.
func TestJoiningDuringATurn(t *testing.T) {
	h := newServerHarness(t, "", true)
	h.Record(agentlooptest.Asks("x"), agentlooptest.Speaks("p", "half"), agentlooptest.Wants("a1", "ls", ""), agentlooptest.Resolves("a1", protocol.Allowed, "ada"),
		agentlooptest.Wants("a2", "rm x", ""))
	h.SentMessages()
	h.Reconnect()
	h.ExpectMessages(`loading_state {"loading":true}`, "user: x", "assistant: half",
		`approval_request {"command":["rm","x"]}`)
}

func TestDeletedSessionBeginsAnew(t *testing.T) {
	h := newServerHarness(t, "", true)
	h.Record(agentlooptest.Asks("x"))
	h.SentMessages()
	gone := protocol.Event{
		Session: "s_1", Type: protocol.SummaryChanged, Time: h.Now,
		Data: protocol.MustEncode(protocol.Summary{Session: "s_1", Deleted: true}),
	}
	h.ReceiveNative(gone.AppendJSON(nil))
	h.ExpectMessages(`loading_state {"loading":false}`,
		"system: The session was deleted. The next message begins a new one.")
	h.Log = nil
	h.Receive(agentlooptest.Input("again"))
	agentlooptest.Last[protocol.CreateData](h, protocol.DoCreate)
}

func TestTooManyMessagesBeforeThereIsASession(t *testing.T) {
	s := New(codec.ServerOptions{ID: codectest.IDs()})
	s.Open(codectest.Start)
	refused := 0
	for range 10 * maxWaiting {
		out := s.Foreign(codectest.Start, codec.Frame{Data: []byte(agentlooptest.Input("x"))})
		for _, f := range out.Foreign {
			if strings.Contains(string(f.Data), "Too many messages") {
				refused++
			}
		}
	}
	if refused < 9*maxWaiting {
		t.Fatalf("%d refused", refused)
	}
}

func TestOutputThatIsTooLargeIsCounted(t *testing.T) {
	h := newServerHarness(t, "", true)
	h.Record(agentlooptest.Asks("x"), agentlooptest.Entry(protocol.ToolStarted,
		protocol.ToolStartedData{Tool: "c", Name: "local_shell", Input: []byte(`{"command":["yes"]}`)}))
	for range maxBuffered/protocol.MaxText + 2 {
		h.Record(agentlooptest.Entry(protocol.ToolOutput,
			protocol.ToolOutputData{Tool: "c", Text: strings.Repeat("y", protocol.MaxText)}))
	}
	h.Record(agentlooptest.Entry(protocol.ToolEnded, protocol.ToolEndedData{Tool: "c", Status: protocol.ToolCompleted}))
	got := h.SentMessages()
	if got[2] != "shell c yes" || !strings.Contains(got[3], " bytes more]") || len(got[3]) > maxBuffered+1024 {
		t.Fatalf("sent %.80q, %d bytes", got[2], len(got[3]))
	}
	if codecOf(h).session.view.turn.buffered != 0 {
		t.Fatalf("%d bytes still kept", codecOf(h).session.view.turn.buffered)
	}
}

func TestTooManyCommandsUnderWay(t *testing.T) {
	s := New(codec.ServerOptions{ID: codectest.IDs()})
	s.Open(codectest.Start)
	subscribed := protocol.MustEncode(protocol.SubscribeResult{
		Session: "s_1", Mode: protocol.ModeSnapshot,
		Clients: []protocol.Client{},
	})
	s.Native(codectest.Start, protocol.MustEncode(protocol.Answer{ID: "2", Result: subscribed}))
	sent := 0
	for range 10 * maxWaiting {
		sent += len(s.Foreign(codectest.Start, codec.Frame{Data: []byte(agentlooptest.Input("x"))}).Native)
	}
	if sent > maxWaiting {
		t.Fatalf("%d pending commands", sent)
	}
}

func TestLongReasoningIsToldInPieces(t *testing.T) {
	h := newServerHarness(t, "", true)
	h.Record(agentlooptest.Asks("x"), agentlooptest.Entry(protocol.ReasoningDelta,
		protocol.PartDeltaData{Part: "r", Text: strings.Repeat("a", maxReasoning/2)}))
	h.SentMessages()
	h.Record(agentlooptest.Entry(protocol.ReasoningDelta,
		protocol.PartDeltaData{Part: "r", Text: strings.Repeat("a", maxReasoning/2)}))
	if got := h.SentMessages(); len(got) != 1 || len(got[0]) != len("reasoning: ")+maxReasoning {
		t.Fatalf("sent %d items", len(got))
	}
}

func TestPatchOfNewAndDeletedFiles(t *testing.T) {
	old := "x\n"
	for want, a := range map[string]*protocol.Approval{
		"*** Begin Patch\n*** Add File: n\n@@ -0,0 +1 @@\n+x\n*** End Patch":    {Patch: "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n"},
		"*** Begin Patch\n*** Delete File: n\n@@ -1 +0,0 @@\n-x\n*** End Patch": {Patch: "--- a/n\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"},
		"*** Begin Patch\n*** Add File: n\n+x\n*** End Patch":                   {Content: []protocol.Content{{Type: "diff", Path: "n", New: "x\n"}}},
		"*** Begin Patch\n*** Update File: n\n@@\n-x\n*** End Patch":            {Content: []protocol.Content{{Type: "diff", Path: "n", Old: &old}}},
		"": {Content: []protocol.Content{{Type: "text", Text: "x"}}},
	} {
		if got := wire.PatchOf(a); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
