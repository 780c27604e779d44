package agentloop

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// examples returns the JSON examples of AgentLoop's document, in order.
func examples(t testing.TB) (list []json.RawMessage) {
	raw, err := os.ReadFile("testdata/examples.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	for i := range list {
		var b bytes.Buffer
		if err := json.Compact(&b, list[i]); err != nil {
			t.Fatal(err)
		}
		list[i] = b.Bytes()
	}
	return list
}

// AL-1 to AL-15, X-25, X-26: every example is encoded as it was decoded, byte for byte. A null
// field of an example is null if it is always present, and left out otherwise.
func TestExamplesAreWrittenAsTheyAreRead(t *testing.T) {
	payloads := map[string]func() any{
		userInputType:        func() any { return new(userInput) },
		approvalResponseType: func() any { return new(approvalResponse) },
		responseItemType:     func() any { return new(item) }, loadingType: func() any { return new(loadingState) },
		approvalRequestType:  func() any { return new(approvalRequest) },
		finishedType:         func() any { return new(agentFinished) },
		contextInfoType:      func() any { return new(contextInfo) },
		contextCompactedType: func() any { return new(contextCompacted) },
		errorType:            func() any { return new(errorPayload) },
	}
	for _, want := range examples(t) {
		m, ok := decodeMessage(codec.Frame{Data: want})
		if !ok {
			t.Fatalf("not a message: %s", want)
		}
		var payload any
		if m.Payload != nil {
			payload = payloads[m.Type]()
			if err := json.Unmarshal(m.Payload, payload); err != nil {
				t.Fatal(err)
			}
		}
		if got := encodeMessage(m.ID, m.Type, payload).Data; !bytes.Equal(got, want) {
			t.Errorf("\n%s\nwant\n%s", got, want)
		}
	}
}

// Every example of a server is understood by the client, every example of a client by the server.
func TestExamplesAreUnderstood(t *testing.T) {
	g := newClientHarness(t, "ws://x", nil)
	h := newServerHarness(t, "", true)
	h.answer[protocol.DoContext] = func(*protocol.Command) any { return protocol.ContextResult{} }
	for _, example := range examples(t) {
		m, _ := decodeMessage(codec.Frame{Data: example})
		switch m.Type {
		case userInputType, getContextType, compactType:
			h.receive(string(example))
		case approvalResponseType:
			h.record(asks("x"), wants("a1", "ls", ""))
			h.receive(string(example))
		default:
			g.receive(string(example))
			if len(g.events) > 0 && g.events[len(g.events)-1].Type == protocol.Raw {
				t.Errorf("kept raw: %s", example)
			}
		}
	}
	for _, line := range h.sentMessages() {
		if strings.HasPrefix(line, "error") {
			t.Error(line)
		}
	}
	var verbs []protocol.Verb
	for _, c := range h.commands {
		verbs = append(verbs, c.Command)
	}
	if want := []protocol.Verb{
		protocol.DoSend, protocol.DoContext, protocol.DoCompact,
		protocol.DoApprove,
	}; !slices.Equal(verbs, want) {
		t.Errorf("received %v", verbs)
	}
}

// unnamed returns a message without generated ids and names.
func unnamed(t *testing.T, raw []byte) string {
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	delete(m, "id")
	if p, ok := m["payload"].(map[string]any); ok {
		delete(p, "id")
		delete(p, "responseId")
		if s, ok := p["arguments"].(string); ok {
			p["arguments"] = strings.ReplaceAll(s, ": ", ":")
			p["arguments"] = strings.ReplaceAll(p["arguments"].(string), ", ", ",")
		}
		if s, ok := p["output"].(string); ok {
			p["output"] = strings.NewReplacer(`": `, `":`, `, "`, `,"`).Replace(s)
		}
	}
	return string(protocol.MustEncode(m))
}

// the server sends the document's messages, from native events.
func TestExamplesAreGenerated(t *testing.T) {
	const patch = "*** Begin Patch\n*** Update File: src/app.ts\n@@ -1,3 +1,4 @@\n import express from 'express';\n+import cors from 'cors';\n const app = express();\n*** End Patch"
	h := newServerHarness(t, "", true)
	h.record(asks("x"), speaks("p", "I'll check the git status and list the files for you."),
		entry(protocol.ToolStarted, protocol.ToolStartedData{
			Tool: "call_abc123", Name: "shell",
			Input: []byte(`{"command":["git","status"]}`),
		}),
		entry(protocol.ToolOutput, protocol.ToolOutputData{
			Tool: "call_abc123",
			Text: "On branch main\nnothing to commit, working tree clean",
		}),
		entry(protocol.ToolEnded, protocol.ToolEndedData{
			Tool: "call_abc123", Status: protocol.ToolCompleted,
			DurationMS: 100,
		}),
		entry(protocol.Notice, protocol.NoticeData{
			Level: protocol.LevelWarning, Message: "Network error while contacting OpenAI. Please check your connection and try again.",
		}),
		wants("a1", "rm -rf node_modules", ""), resolves("a1", protocol.Allowed, "ada"),
		entry(protocol.ContextUpdated, protocol.ContextInfo{
			Tokens: 45231, MaxTokens: 128000, Percent: 35.4,
			TranscriptLength: 87, Strategy: "ThresholdContextManager",
		}),
		entry(protocol.ContextCompacted, protocol.ContextCompactedData{
			Before: 98234, After: 12456, Percent: 87.3,
			Strategy: "ThresholdContextManager",
		}),
		entry(protocol.ApprovalRequested, protocol.Approval{
			Request: "a2", Kind: protocol.ApprovePatch, Patch: patch,
			Editable: true, Options: approvalOptions(),
		}),
		ends(protocol.ReasonCompleted),
		codec.Entry{Type: protocol.ErrorRaised, Data: protocol.ErrorData{
			Kind: protocol.ErrorKindExecution, Message: "Rate limit exceeded",
			Details: map[string]string{"provider_status": "429"},
		}})
	none := newServerHarness(t, "", false)
	none.receive(`{"id":"1","type":"manual_compact"}`)
	var got []string
	for _, m := range append(h.sent, none.sent...) {
		got = append(got, unnamed(t, protocol.MustEncode(m)))
	}
	for i, example := range examples(t) {
		m, _ := decodeMessage(codec.Frame{Data: example})
		switch {
		case m.Type == userInputType || m.Type == getContextType || m.Type == compactType ||
			m.Type == approvalResponseType:
			continue
		case bytes.Contains(example, []byte("local_shell")) || bytes.Contains(example, []byte(`"reasoning"`)):
			continue // native tools have no such calls; the time is the agent's
		}
		want := unnamed(t, bytes.ReplaceAll(example, []byte(`"*** Begin Patch..."`), protocol.MustEncode(patch)))
		if !slices.Contains(got, want) {
			t.Errorf("example %d was not sent: %s", i, want)
		}
	}
}

// the client sends the document's messages, from native commands.
func TestExamplesOfClientsAreGenerated(t *testing.T) {
	g := newClientHarness(t, "ws://x", nil)
	g.send(protocol.DoSend, protocol.SendData{Text: "Please check the git status and list the files in the current directory"})
	g.send(protocol.DoContext, nil)
	g.send(protocol.DoCompact, nil)
	g.receive(loads(true), request)
	g.send(protocol.DoApprove, protocol.ApproveData{Decision: protocol.AllowOnce})
	var want []json.RawMessage
	for _, example := range examples(t) {
		switch m, _ := decodeMessage(codec.Frame{Data: example}); m.Type {
		case userInputType, getContextType, compactType, approvalResponseType:
			want = append(want, example)
		}
	}
	for i, m := range g.sent {
		of, _ := decodeMessage(codec.Frame{Data: want[i]})
		m.ID = of.ID
		if got := protocol.MustEncode(m); !bytes.Equal(got, want[i]) {
			t.Errorf("\n%s\nwant\n%s", got, want[i])
		}
	}
}
