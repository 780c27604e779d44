package plain

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

func TestToolCallIsWrittenOnceWithItsArguments(t *testing.T) {
	const tool = "c1"
	started := protocol.ToolStartedData{Tool: tool, Name: "Bash"}
	input := json.RawMessage(`{"command":"go test"}`)
	complete := func(j *tuitest.Journal) {
		j.Add(protocol.ToolInput, protocol.ToolInputData{Tool: tool, Input: input})
	}
	end := func(j *tuitest.Journal) {
		j.Add(protocol.ToolEnded, protocol.ToolEndedData{Tool: tool, Status: protocol.ToolCompleted})
	}
	for name, c := range map[string]struct {
		events []func(*tuitest.Journal)
		want   string // the lines about the call
	}{
		"nothing is known yet": {nil, ""},
		"arguments later":      {[]func(*tuitest.Journal){complete}, "tool Bash go test\n"},
		"arguments in pieces": {[]func(*tuitest.Journal){func(j *tuitest.Journal) {
			j.Add(protocol.ToolInput, protocol.ToolInputData{Tool: tool, Text: string(input[:9])})
			j.Add(protocol.ToolInput, protocol.ToolInputData{Tool: tool, Text: string(input[9:])})
		}}, "tool Bash go test\n"},
		"arguments twice": {
			[]func(*tuitest.Journal){complete, complete, end}, "tool Bash go test\ntool Bash go test: completed\n",
		},
		"joined arguments": {[]func(*tuitest.Journal){func(j *tuitest.Journal) {
			j.Add(protocol.JoinedDeltas, protocol.JoinedData{Parts: []protocol.JoinedPart{
				{Part: tool, Kind: protocol.KindInput, Text: string(input)},
			}})
		}, end}, "tool Bash go test\ntool Bash go test: completed\n"},
		"no arguments": {[]func(*tuitest.Journal){end}, "tool Bash\ntool Bash: completed\n"},
		"output": {[]func(*tuitest.Journal){func(j *tuitest.Journal) {
			j.Add(protocol.ToolOutput, protocol.ToolOutputData{Tool: tool, Text: "ok"})
		}}, "tool Bash\n"},
		"a fresh snapshot": {[]func(*tuitest.Journal){func(j *tuitest.Journal) {
			j.Reconnect(protocol.ModeReset, 0)
			state := &protocol.State{Session: "s1", Seq: j.Seq}
			j.Pending[len(j.Pending)-1].Attached.Snapshot = &protocol.Snapshot{State: state}
		}, complete, end}, "tool go test\ntool go test: completed\n"},
		"end of the turn": {[]func(*tuitest.Journal){func(j *tuitest.Journal) {
			j.EndTurn(protocol.ReasonInterrupted)
		}}, "tool Bash\n"},
		"approval": {[]func(*tuitest.Journal){func(j *tuitest.Journal) {
			j.RequestApproval(tuitest.CommandApproval())
		}, complete}, "tool Bash\n"},
	} {
		j := tuitest.NewJournal()
		j.UserMessage(tuitest.Ada, "m1", "test it")
		j.Add(protocol.ToolStarted, started)
		for _, add := range c.events {
			add(j)
		}
		r := newRenderer(time.UTC)
		for _, u := range j.Take() {
			r.update(u)
		}
		got := ""
		for line := range strings.Lines(r.out.String()) {
			if strings.HasPrefix(line, "tool ") {
				got += line
			}
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestMarkdownIsWrittenAsText(t *testing.T) {
	content := []protocol.Content{{Type: "text", Text: "**a**\n```\nb\n```", MediaType: "text/markdown"}}
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "test it")
	j.Tool("c1", protocol.ToolStartedData{Name: "Bash"}, "")
	j.Add(protocol.ToolOutput, protocol.ToolOutputData{Tool: "c1", Content: content})
	j.Add(protocol.ToolEnded, protocol.ToolEndedData{Tool: "c1", Status: protocol.ToolCompleted})
	j.RequestApproval(protocol.Approval{
		Request: "r1", Kind: protocol.ApproveTool, Title: "Bash", Content: content,
	})
	j.CaughtUp()
	r := newRenderer(time.UTC)
	for _, u := range j.Take() {
		r.update(u)
	}
	out := r.out.String()
	for _, want := range []string{"  | **a**\n  | ```\n  | b\n  | ```\n", "  content, 4 lines:\n    | **a**\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("got %q, want %q in it", out, want)
		}
	}
}

func TestFilesAreOneLine(t *testing.T) {
	j := tuitest.NewJournal()
	j.Add(protocol.MessageUser, protocol.MessageUserData{Message: protocol.Message{
		MessageID: "m1", Text: "look", By: &tuitest.Ada,
		Parts: []protocol.Part{{Type: "image", Name: "a.png", URL: "data:image/png;base64,QkFTRTY0REFUQQ=="}},
	}})
	j.Add(protocol.ToolOutput, protocol.ToolOutputData{Tool: "c1", Content: []protocol.Content{
		{Type: "image", MediaType: "image/png", Blob: "b_1", Bytes: 50_000},
	}})
	j.Add(protocol.ToolEnded, protocol.ToolEndedData{Tool: "c1", Status: protocol.ToolCompleted})
	j.Text("p1", "see")
	link := protocol.Content{Type: "link", Path: "https://x.org"}
	j.Add(protocol.TextContent, protocol.TextContentData{Content: link})
	r := newRenderer(time.UTC)
	for _, u := range j.Take() {
		r.update(u)
	}
	out := r.out.String()
	for _, want := range []string{
		"agent: see\nagent: [link · https://x.org]\n",
		"ada: look\n  [image a.png · image/png · 10 bytes]\n", "  | [image · image/png · 48 KiB]\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %q", want, out)
		}
	}
}
