package agentloop

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"agentctl/internal/dev/agentlooptest"
	"agentctl/protocol"
	"agentctl/protocol/agentloop/wire"
	"agentctl/protocol/codec"
)

// AL-1 to AL-15, X-25, X-26: every example is encoded as it was decoded, byte for byte. A null
// field of an example is null if it is always present, and left out otherwise.
func TestExamplesAreWrittenAsTheyAreRead(t *testing.T) {
	payloads := map[string]func() any{
		wire.UserInputType:        func() any { return new(wire.UserInput) },
		wire.ApprovalResponseType: func() any { return new(wire.ApprovalResponse) },
		wire.ResponseItemType:     func() any { return new(wire.Item) }, wire.LoadingType: func() any { return new(wire.LoadingState) },
		wire.ApprovalRequestType:  func() any { return new(wire.ApprovalRequest) },
		wire.FinishedType:         func() any { return new(wire.AgentFinished) },
		wire.ContextInfoType:      func() any { return new(wire.ContextInfo) },
		wire.ContextCompactedType: func() any { return new(wire.ContextCompacted) },
		wire.ErrorType:            func() any { return new(wire.ErrorPayload) },
	}
	for _, want := range agentlooptest.Examples(t) {
		m, ok := wire.DecodeMessage(codec.Frame{Data: want})
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
		if got := wire.EncodeMessage(m.ID, m.Type, payload).Data; !bytes.Equal(got, want) {
			t.Errorf("\n%s\nwant\n%s", got, want)
		}
	}
}

// Every example of a server is understood by the client, every example of a client by the server.
func TestExamplesAreUnderstood(t *testing.T) {
	g := agentlooptest.NewClient(t, Dialect.Client, "ws://x", nil)
	h := agentlooptest.NewServer(t, Dialect.Server, "", true)
	h.Answer[protocol.DoContext] = func(*protocol.Command) any { return protocol.ContextResult{} }
	for _, example := range agentlooptest.Examples(t) {
		m, _ := wire.DecodeMessage(codec.Frame{Data: example})
		switch m.Type {
		case wire.UserInputType, wire.GetContextType, wire.CompactType:
			h.Receive(string(example))
		case wire.ApprovalResponseType:
			h.Record(agentlooptest.Asks("x"), agentlooptest.Wants("a1", "ls", ""))
			h.Receive(string(example))
		default:
			g.Receive(string(example))
			if len(g.Events) > 0 && g.Events[len(g.Events)-1].Type == protocol.Raw {
				t.Errorf("kept raw: %s", example)
			}
		}
	}
	for _, line := range h.SentMessages() {
		if strings.HasPrefix(line, "error") {
			t.Error(line)
		}
	}
	var verbs []protocol.Verb
	for _, c := range h.Commands {
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
	h := agentlooptest.NewServer(t, Dialect.Server, "", true)
	h.Record(agentlooptest.Asks("x"), agentlooptest.Speaks("p", "I'll check the git status and list the files for you."),
		agentlooptest.Entry(protocol.ToolStarted, protocol.ToolStartedData{
			Tool: "call_abc123", Name: "shell",
			Input: []byte(`{"command":["git","status"]}`),
		}),
		agentlooptest.Entry(protocol.ToolOutput, protocol.ToolOutputData{
			Tool: "call_abc123",
			Text: "On branch main\nnothing to commit, working tree clean",
		}),
		agentlooptest.Entry(protocol.ToolEnded, protocol.ToolEndedData{
			Tool: "call_abc123", Status: protocol.ToolCompleted,
			DurationMS: 100,
		}),
		agentlooptest.Entry(protocol.Notice, protocol.NoticeData{
			Level: protocol.LevelWarning, Message: "Network error while contacting OpenAI. Please check your connection and try again.",
		}),
		agentlooptest.Wants("a1", "rm -rf node_modules", ""), agentlooptest.Resolves("a1", protocol.Allowed, "ada"),
		agentlooptest.Entry(protocol.ContextUpdated, protocol.ContextInfo{
			Tokens: 45231, MaxTokens: 128000, Percent: 35.4,
			TranscriptLength: 87, Strategy: "ThresholdContextManager",
		}),
		agentlooptest.Entry(protocol.ContextCompacted, protocol.ContextCompactedData{
			Before: 98234, After: 12456, Percent: 87.3,
			Strategy: "ThresholdContextManager",
		}),
		agentlooptest.Entry(protocol.ApprovalRequested, protocol.Approval{
			Request: "a2", Kind: protocol.ApprovePatch, Patch: patch,
			Editable: true, Options: wire.ApprovalOptions(),
		}),
		agentlooptest.Ends(protocol.ReasonCompleted),
		codec.Entry{Type: protocol.ErrorRaised, Data: protocol.ErrorData{
			Kind: protocol.ErrorKindExecution, Message: "Rate limit exceeded",
			Details: map[string]string{"provider_status": "429"},
		}})
	none := agentlooptest.NewServer(t, Dialect.Server, "", false)
	none.Receive(`{"id":"1","type":"manual_compact"}`)
	var got []string
	for _, m := range append(h.Sent, none.Sent...) {
		got = append(got, unnamed(t, protocol.MustEncode(m)))
	}
	for i, example := range agentlooptest.Examples(t) {
		m, _ := wire.DecodeMessage(codec.Frame{Data: example})
		switch {
		case m.Type == wire.UserInputType || m.Type == wire.GetContextType || m.Type == wire.CompactType ||
			m.Type == wire.ApprovalResponseType:
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
	g := agentlooptest.NewClient(t, Dialect.Client, "ws://x", nil)
	g.Send(protocol.DoSend, protocol.SendData{Text: "Please check the git status and list the files in the current directory"})
	g.Send(protocol.DoContext, nil)
	g.Send(protocol.DoCompact, nil)
	g.Receive(agentlooptest.Loads(true), agentlooptest.Request)
	g.Send(protocol.DoApprove, protocol.ApproveData{Decision: protocol.AllowOnce})
	var want []json.RawMessage
	for _, example := range agentlooptest.Examples(t) {
		switch m, _ := wire.DecodeMessage(codec.Frame{Data: example}); m.Type {
		case wire.UserInputType, wire.GetContextType, wire.CompactType, wire.ApprovalResponseType:
			want = append(want, example)
		}
	}
	for i, m := range g.Sent {
		of, _ := wire.DecodeMessage(codec.Frame{Data: want[i]})
		m.ID = of.ID
		if got := protocol.MustEncode(m); !bytes.Equal(got, want[i]) {
			t.Errorf("\n%s\nwant\n%s", got, want[i])
		}
	}
}
