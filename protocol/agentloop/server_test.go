package agentloop

import (
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// AL-1, AL-15, AL-27: what is no message is answered, and the connection lives on.
func TestBadMessagesAreAnsweredWithAnError(t *testing.T) {
	h := newHouse(t, "", true)
	for frame, want := range map[string]string{
		`{`:                              `error {"message":"Invalid message format","details":{}}`,
		`[]`:                             `error {"message":"Invalid message format","details":{}}`,
		`{"type":"user_input"}`:          `error {"message":"Invalid message format","details":{}}`,
		`{"id":null,"type":"x"}`:         `error {"message":"Invalid message format","details":{}}`,
		`{"id":1,"type":"user_input"}`:   `error {"message":"Invalid message format","details":{}}`,
		`{"id":"1","type":"bogus"}`:      `error {"message":"Unknown message type: bogus"}`,
		`{"id":"1","type":"user_input"}`: `error {"message":"Invalid message format","details":{"error":"validation","fields":["input"]}}`,
		`{"id":"1","type":"user_input","payload":{"input":[]}}`:            `error {"message":"Invalid message format","details":{"error":"validation","fields":["input"]}}`,
		`{"id":"1","type":"user_input","payload":{"input":[7]}}`:           `error {"message":"Invalid message format","details":{"error":"validation","fields":["input"]}}`,
		`{"id":"1","type":"approval_response","payload":{"review":"si"}}`:  `error {"message":"Invalid message format","details":{"error":"validation","fields":["review"]}}`,
		`{"id":"1","type":"approval_response","payload":{"review":"yes"}}`: `error {"message":"No pending approval request"}`,
	} {
		h.hears(frame)
		h.expects(want)
	}
	h.hears(input("hello"))
	if d := last[protocol.SendData](h, protocol.DoSend); d.Text != "hello" {
		t.Fatalf("sent %q", d.Text)
	}
}

// The last segment of the path names the session, the first input creates it.
func TestFirstInputCreatesTheSessionThatThePathNames(t *testing.T) {
	for path, name := range map[string]string{"": "agentloop", "/": "agentloop", "/ws/abc123": "abc123", "/abc/": "abc"} {
		h := newHouse(t, path, false)
		h.hears(`{"id":"1","type":"get_context_info"}`)
		h.expects(`error {"message":"AgentLoop not initialized","details":null}`)
		h.hears(input("one"))
		if d := last[protocol.CreateData](h, protocol.DoCreate); d.Name != name || d.Agent != "claude" {
			t.Fatalf("created %+v", d)
		}
		if d := last[protocol.SendData](h, protocol.DoSend); d.Text != "one" {
			t.Fatalf("sent %q", d.Text)
		}
		h.hears(input("two"))
		if len(h.heard) != 3 {
			t.Fatalf("heard %v", h.heard)
		}
	}
}

// AL-2: previousResponseId is accepted and unused; what is not text is kept as a part.
func TestInputIsReadWhole(t *testing.T) {
	h := newHouse(t, "", true)
	h.hears(`{"id":"1","type":"user_input","payload":{"previousResponseId":"resp_1","input":[
		{"type":"message","role":"user","content":[{"type":"input_text","text":"see\u0007 this"},{"type":"input_image","image_url":"http://x/y.png"}]},
		{"type":"message","role":"user","content":"and that"}]}}`)
	d := last[protocol.SendData](h, protocol.DoSend)
	if d.Text != "see this\nand that" || len(d.Parts) != 1 || d.Parts[0].Type != "image" || d.Parts[0].URL != "http://x/y.png" {
		t.Fatalf("sent %+v", d)
	}
	if d.ClientMessageID != "1" {
		t.Fatalf("client message id %q", d.ClientMessageID)
	}
}

// AL-6, AL-8, AL-10, AL-12, AL-16, AL-22: loading true, items, loading false, agent_finished.
func TestPlainTurn(t *testing.T) {
	h := newHouse(t, "", true)
	h.happens(asks("check git"),
		entry(protocol.TurnStarted, protocol.TurnStartedData{MessageID: "m1"}),
		entry(protocol.ReasoningStart, protocol.PartStartData{Part: "r"}),
		entry(protocol.ReasoningDelta, protocol.PartDeltaData{Part: "r", Text: "I should "}),
		entry(protocol.ReasoningDelta, protocol.PartDeltaData{Part: "r", Text: "look"}),
		entry(protocol.ReasoningEnd, protocol.PartEndData{Part: "r"}),
		speaks("p", "I'll "), speaks("p", "check"),
		entry(protocol.ToolStarted, protocol.ToolStartedData{Tool: "c1", Name: "shell", Input: []byte(`{"command":["git","status"]}`)}),
		entry(protocol.ToolOutput, protocol.ToolOutputData{Tool: "c1", Text: "clean"}),
		entry(protocol.ToolEnded, protocol.ToolEndedData{Tool: "c1", Status: protocol.ToolCompleted, DurationMS: 100}),
		speaks("p2", "done"), ends(protocol.ReasonCompleted))
	h.expects(`loading_state {"loading":true}`, "user: check git", "reasoning: I should look", "assistant: I'll ", "assistant: check",
		`call c1 shell {"command":["git","status"]}`,
		`function_call_output c1 {"output":"clean","metadata":{"exit_code":0,"duration_seconds":0.1}}`,
		"assistant: done", `loading_state {"loading":false}`, `agent_finished {"responseId":"t1"}`)
}

// AL-10, AL-16, AL-30: after an error loading false comes alone.
func TestFailedTurn(t *testing.T) {
	h := newHouse(t, "", true)
	h.happens(asks("x"), entry(protocol.TurnEnded, protocol.TurnEndedData{Reason: protocol.ReasonError, Code: protocol.CodeAgentFailed, Message: "no answer"}))
	h.expects(`loading_state {"loading":true}`, "user: x",
		`error {"message":"Failed to process user input","details":{"error":"no answer","code":"agent_failed"}}`, `loading_state {"loading":false}`)
}

// AL-9, AL-15, AL-30: what the agent recovers from is a warning in the transcript, what it does not is an error with its status.
func TestFaultsAreTold(t *testing.T) {
	h := newHouse(t, "", true)
	h.happens(asks("x"),
		entry(protocol.ErrorRaised, protocol.ErrorData{Kind: protocol.ErrorKindExecution, Message: "network", Recoverable: true}),
		entry(protocol.RetryScheduled, protocol.RetryData{Attempt: 1, Limit: 5, Cause: "HTTP 503"}),
		entry(protocol.ErrorRaised, protocol.ErrorData{
			Kind: protocol.ErrorKindExecution, Message: "Rate limit exceeded", Details: map[string]string{"provider_status": "429", "path": "/secret"},
		}), ends(protocol.ReasonError))
	h.expects(`loading_state {"loading":true}`, "user: x", "system: ⚠️ network", "system: ⚠️ HTTP 503; trying again (1 of 5)",
		`error {"message":"Failed to process user input","details":{"error":"Rate limit exceeded","code":429}}`, `loading_state {"loading":false}`)
}

// AL-11, AL-16, AL-17: the request comes before the call that it is about, the call after the answer.
func TestApprovalComesBeforeItsCall(t *testing.T) {
	h := newHouse(t, "", true)
	h.happens(asks("x"), speaks("p", "cleaning"),
		entry(protocol.ToolStarted, protocol.ToolStartedData{Tool: "c1", Name: "shell", Input: []byte(`{"command":["rm","-rf","b"]}`)}),
		wants("a1", "rm -rf b", "c1"))
	h.expects(`loading_state {"loading":true}`, "user: x", "assistant: cleaning", `approval_request {"command":["rm","-rf","b"]}`)
	h.later(time.Minute)
	h.happens(speaks("p", "..."))
	h.expects("assistant: ...")
	h.hears(review("yes"))
	if d := last[protocol.ApproveData](h, protocol.DoApprove); d.Decision != protocol.AllowOnce || d.Request != "a1" {
		t.Fatalf("decided %+v", d)
	}
	h.happens(resolves("a1", protocol.Allowed, "agentloop@peer"),
		entry(protocol.ToolEnded, protocol.ToolEndedData{Tool: "c1", Status: protocol.ToolFailed}))
	h.expects(`call c1 shell {"command":["rm","-rf","b"]}`, `function_call_output c1 {"output":"","metadata":{"exit_code":1,"duration_seconds":0}}`)
	h.hears(review("yes"))
	h.expects(`error {"message":"No pending approval request"}`)
}

// A call that needs no approval is told after a moment, though nothing else happens.
func TestLongCallIsToldBeforeItsEnd(t *testing.T) {
	h := newHouse(t, "", true)
	h.happens(asks("x"), entry(protocol.ToolStarted, protocol.ToolStartedData{Tool: "c1", Name: "shell"}))
	h.told()
	h.later(settling)
	h.expects(`call c1 shell {}`)
	if !h.wake.IsZero() {
		t.Fatal("still to be woken")
	}
}

// AL-17, AL-18, AL-19: every review is a decision; the words reach the agent.
func TestReviewsAreDecisions(t *testing.T) {
	for word, want := range map[string]protocol.Decision{
		"yes": protocol.AllowOnce, "always": protocol.AllowAlways, "no-continue": protocol.Deny, "no-exit": protocol.DenyStop, "explain": protocol.Explain,
	} {
		h := newHouse(t, "", true)
		h.happens(asks("x"), wants("a1", "ls", ""))
		h.hears(`{"id":"1","type":"approval_response","payload":{"review":"` + word + `","customDenyMessage":"not now","explanation":null}}`)
		if d := last[protocol.ApproveData](h, protocol.DoApprove); d.Decision != want || d.Reason != "not now" {
			t.Fatalf("%s: %+v", word, d)
		}
	}
}

// AL-19: the explanation is the agent's words, then the request is asked again.
func TestExplainAsksAgain(t *testing.T) {
	h := newHouse(t, "", true)
	h.happens(asks("x"), wants("a1", "ls", ""))
	h.hears(review("explain"))
	h.told()
	h.happens(entry(protocol.ApprovalExplained, protocol.ApprovalExplainedData{Request: "a1", Text: "it lists"}))
	h.expects("assistant: it lists", `approval_request {"command":["ls"]}`)
	h.hears(review("yes"))
	if d := last[protocol.ApproveData](h, protocol.DoApprove); d.Decision != protocol.AllowOnce {
		t.Fatalf("decided %+v", d)
	}
}

// AL-18: what always allowed is not asked again, and what waits behind it is.
func TestWhatARuleAllowsIsNotAsked(t *testing.T) {
	h := newHouse(t, "", true)
	h.happens(asks("x"), wants("a1", "ls", ""), entry(protocol.ApprovalResolved, protocol.ApprovalResolvedData{
		Request: "a1", Outcome: protocol.Allowed, Rule: &protocol.Rule{ID: "rule1", Kind: protocol.ApproveCommand, Subject: "\x00ls"},
	}))
	h.told()
	h.happens(wants("a2", "ls", ""))
	h.expects()
	h.happens(wants("a3", "rm", ""), entry(protocol.ApprovalResolved, protocol.ApprovalResolvedData{Request: "a2", Outcome: protocol.Allowed, ByRule: "rule1"}))
	h.expects(`approval_request {"command":["rm"]}`)
}

// No button is dead: what cannot be decided that way is asked again.
func TestRefusedDecisionIsAskedAgain(t *testing.T) {
	h := newHouse(t, "", true)
	h.answer[protocol.DoApprove] = func(*protocol.Command) any { return protocol.Errorf(protocol.CodeUnsupported, "cannot explain") }
	h.happens(asks("x"), wants("a1", "ls", ""))
	h.told()
	h.hears(review("explain"))
	h.expects(`error {"message":"Failed to process approval response","details":{"error":"cannot explain","code":"unsupported"}}`,
		`approval_request {"command":["ls"]}`)
}

// AL-11, AL-20: a patch is shown in its format, and an edited one comes back.
func TestPatchIsShownAndMayBeEdited(t *testing.T) {
	old := "a\nb\n"
	for name, a := range map[string]protocol.Approval{
		"as it is": {Editable: true, Patch: "*** Begin Patch\n*** Update File: f\n@@\n a\n-b\n+c\n*** End Patch"},
		"unified":  {Editable: true, Patch: "diff --git a/f b/f\nindex 1..2\n--- a/f\n+++ b/f\n@@\n a\n-b\n+c\n"},
		"diff":     {Content: []protocol.Content{{Type: "diff", Path: "f", Old: &old, New: "a\nc\n"}}},
	} {
		a.Request, a.Kind, a.Options = "a1", protocol.ApprovePatch, choices()
		h := newHouse(t, "", true)
		h.happens(asks("x"), entry(protocol.ApprovalRequested, a))
		const patch = `*** Begin Patch\n*** Update File: f\n@@\n a\n-b\n+c\n*** End Patch`
		want := `approval_request {"command":["apply_patch","` + patch + `"],"applyPatch":{"patch":"` + patch + `"}}`
		if !a.Editable {
			want = strings.TrimSuffix(want, "}}") + `,"readOnly":true}}`
		}
		if got := h.told(); got[len(got)-1] != want {
			t.Fatalf("%s:\n%s\nwant\n%s", name, got[len(got)-1], want)
		}
		h.hears(`{"id":"1","type":"approval_response","payload":{"review":"yes","applyPatch":{"patch":"` + patch + `"}}}`)
		if d := last[protocol.ApproveData](h, protocol.DoApprove); d.Input != nil {
			t.Fatalf("%s: input %+v of an unchanged patch", name, d.Input)
		}
		h.codec.asked.deciding = false
		h.hears(`{"id":"1","type":"approval_response","payload":{"review":"yes","applyPatch":{"patch":"edited"}}}`)
		if d := last[protocol.ApproveData](h, protocol.DoApprove); d.Input == nil || d.Input.Patch != "edited" {
			t.Fatalf("%s: input %+v", name, d.Input)
		}
	}
}

// AL-21: one request is shown at a time, and an answer that was meant for the one before decides nothing.
func TestOneRequestAtATime(t *testing.T) {
	h := newHouse(t, "", true)
	h.happens(asks("x"), wants("a1", "ls", ""), wants("a2", "rm x", ""))
	h.expects(`loading_state {"loading":true}`, "user: x", `approval_request {"command":["ls"]}`)
	h.happens(resolves("a1", protocol.Denied, "grace"))
	h.expects("system: Decided by grace: denied.", `approval_request {"command":["rm","x"]}`)
	h.later(glance / 2)
	h.hears(review("yes"))
	h.expects(`error {"message":"Somebody else has decided that request; this is another one"}`, `approval_request {"command":["rm","x"]}`)
	if len(h.heard) != 0 {
		t.Fatalf("decided %v", h.heard)
	}
	h.hears(review("yes"))
	if d := last[protocol.ApproveData](h, protocol.DoApprove); d.Request != "a2" {
		t.Fatalf("decided %+v", d)
	}
}

// AL-4, AL-13, AL-14: context and compaction, with all their numbers.
func TestContextAndCompaction(t *testing.T) {
	h := newHouse(t, "", true)
	h.answer[protocol.DoContext] = func(*protocol.Command) any {
		return protocol.ContextResult{Context: protocol.ContextInfo{Tokens: 10, Percent: 0.5}}
	}
	h.hears(`{"id":"1","type":"get_context_info","payload":{}}`)
	h.expects(`context_info {"tokenCount":10,"usagePercent":0.5,"transcriptLength":0,"maxTokens":0,"strategy":""}`)
	h.hears(`{"id":"1","type":"manual_compact"}`)
	if c := h.heard[1]; c.Command != protocol.DoCompact {
		t.Fatalf("heard %s", c.Command)
	}
	h.happens(bridgeEntry(protocol.ContextCompacted, protocol.ContextCompactedData{Before: 100, After: 20, Percent: 80, Strategy: "s"}))
	h.expects(`context_compacted {"oldTokenCount":100,"newTokenCount":20,"reductionPercent":80,"strategy":"s"}`)
	h.answer[protocol.DoCompact] = func(*protocol.Command) any { return protocol.Errorf(protocol.CodeUnsupported, "no") }
	h.hears(`{"id":"1","type":"manual_compact"}`)
	h.expects(`error {"message":"Failed to compact context","details":{"error":"no","code":"unsupported"}}`)
}

// a message during a turn is queued, and said to be; a hold that the client could not lift is lifted.
func TestQueuedInput(t *testing.T) {
	h := newHouse(t, "", true)
	at := 1
	h.answer[protocol.DoSend] = func(*protocol.Command) any {
		return protocol.SendResult{Status: protocol.SendQueued, MessageID: "m2", Index: &at}
	}
	h.hears(input("later"))
	h.expects("system: Queued behind 1.")
	h.happens(bridgeEntry(protocol.QueueHeld, protocol.Hold{ID: "h1", Reason: protocol.HoldUser}))
	h.hears(input("later"))
	h.expects("system: Queued: the queue is held.")
	h.happens(bridgeEntry(protocol.QueueHeld, protocol.Hold{ID: "h2", Reason: protocol.HoldDenyStop}))
	h.hears(input("later"))
	if d := last[protocol.QueueReleaseData](h, protocol.DoQueueRelease); d.Hold != "h2" {
		t.Fatalf("released %q", d.Hold)
	}
}

// Who comes during a turn is told it from its start, and asked what is pending then, not what was.
func TestJoiningDuringATurn(t *testing.T) {
	h := newHouse(t, "", true)
	h.happens(asks("x"), speaks("p", "half"), wants("a1", "ls", ""), resolves("a1", protocol.Allowed, "ada"), wants("a2", "rm x", ""))
	log := h.log
	h = &house{t: t, now: h.now, log: log, desk: h.desk, answer: h.answer, codec: NewServer(codec.ServerOptions{ID: ids()})}
	h.take(h.codec.Open(h.now))
	h.expects(`loading_state {"loading":true}`, "user: x", "assistant: half", `approval_request {"command":["rm","x"]}`)
}

func TestDeletedSessionBeginsAnew(t *testing.T) {
	h := newHouse(t, "", true)
	h.happens(asks("x"))
	h.told()
	gone := protocol.Event{Session: "s_1", Type: protocol.SummaryChanged, Time: h.now, Data: protocol.MustEncode(protocol.Summary{Session: "s_1", Deleted: true})}
	h.give([][]byte{gone.AppendJSON(nil)})
	h.expects(`loading_state {"loading":false}`, "system: The session was deleted. The next message begins a new one.")
	h.log = nil
	h.hears(input("again"))
	last[protocol.CreateData](h, protocol.DoCreate)
}

func TestTooManyMessagesBeforeThereIsASession(t *testing.T) {
	s := NewServer(codec.ServerOptions{ID: ids()})
	s.Open(epochStart)
	refused := 0
	for range 10 * maxWaiting {
		out := s.Foreign(epochStart, codec.Frame{Data: []byte(input("x"))})
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
	h := newHouse(t, "", true)
	h.happens(asks("x"), entry(protocol.ToolStarted, protocol.ToolStartedData{Tool: "c", Name: "local_shell", Input: []byte(`{"command":["yes"]}`)}))
	for range maxKept/protocol.MaxText + 2 {
		h.happens(entry(protocol.ToolOutput, protocol.ToolOutputData{Tool: "c", Text: strings.Repeat("y", protocol.MaxText)}))
	}
	h.happens(entry(protocol.ToolEnded, protocol.ToolEndedData{Tool: "c", Status: protocol.ToolCompleted}))
	got := h.told()
	if got[2] != "shell c yes" || !strings.Contains(got[3], " bytes more]") || len(got[3]) > maxKept+1024 {
		t.Fatalf("told %.80q, %d bytes", got[2], len(got[3]))
	}
	if h.codec.turn.kept != 0 {
		t.Fatalf("%d bytes still kept", h.codec.turn.kept)
	}
}

func TestTooManyCommandsUnderWay(t *testing.T) {
	s := NewServer(codec.ServerOptions{ID: ids()})
	s.Open(epochStart)
	subscribed := protocol.MustEncode(protocol.SubscribeResult{Session: "s_1", Mode: protocol.ModeSnapshot, Clients: []protocol.Client{}})
	s.Native(epochStart, protocol.MustEncode(protocol.Answer{ID: "2", Result: subscribed}))
	sent := 0
	for range 10 * maxWaiting {
		sent += len(s.Foreign(epochStart, codec.Frame{Data: []byte(input("x"))}).Native)
	}
	if sent > maxWaiting {
		t.Fatalf("%d commands under way", sent)
	}
}

func TestLongReasoningIsToldInPieces(t *testing.T) {
	h := newHouse(t, "", true)
	h.happens(asks("x"), entry(protocol.ReasoningDelta, protocol.PartDeltaData{Part: "r", Text: strings.Repeat("a", maxThought/2)}))
	h.told()
	h.happens(entry(protocol.ReasoningDelta, protocol.PartDeltaData{Part: "r", Text: strings.Repeat("a", maxThought/2)}))
	if got := h.told(); len(got) != 1 || len(got[0]) != len("reasoning: ")+maxThought {
		t.Fatalf("told %d items", len(got))
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
		if got := patchOf(a); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
