package main

import (
	"encoding/json"
	"strings"
	"testing"

	"agentctl/protocol"
)

// told is a session in which something of everything happens.
func told() *story {
	zero := 0
	s := attached(empty(), 0)
	s.begins("t1", "m1")
	s.event(protocol.ReasoningDelta, "t1", protocol.PartDeltaData{Part: "r", Text: "hm"})
	s.event(protocol.TextDelta, "t1", protocol.PartDeltaData{Part: "p", Text: "a <b>bold\x1b[31m</b> "})
	s.event(protocol.TextDelta, "t1", protocol.PartDeltaData{Part: "p", Text: "answer"})
	s.event(protocol.ToolStarted, "t1", protocol.ToolStartedData{Tool: "c", Name: "shell", Title: "run `it`"})
	s.event(protocol.ToolOutput, "t1", protocol.ToolOutputData{Tool: "c", Text: "```\nout\n"})
	s.event(protocol.ToolEnded, "t1", protocol.ToolEndedData{Tool: "c", Status: "completed", ExitCode: &zero})
	s.asks("t1", "q")
	s.event(protocol.ApprovalResolved, "t1", protocol.ApprovalResolvedData{Request: "q", Outcome: protocol.Allowed, Reason: "fine"})
	s.event(protocol.Notice, "t1", protocol.NoticeData{Level: protocol.LevelInfo, Message: "noted"})
	return s.ends("t1", protocol.ReasonCompleted)
}

func (s *story) fold(t *testing.T) (*protocol.State, *protocol.Transcript) {
	t.Helper()
	state, transcript := &protocol.State{}, &protocol.Transcript{}
	for _, item := range s.items[1:] {
		if err := state.Apply(item.Event); err != nil {
			t.Fatal(err)
		}
		if _, err := transcript.Apply(item.Event); err != nil {
			t.Fatal(err)
		}
	}
	state.Session, state.Title = "s", "A <title>"
	return state, transcript
}

func TestMarkdownTellsTheTurn(t *testing.T) {
	state, transcript := told().fold(t)
	var b strings.Builder
	m := markdown{w: &cleanWriter{w: &b}, reasoning: true}
	m.head(state)
	m.turn(transcript.Turns[0], true)
	want := "# A <title>\n\nSession s, agent -, begun 0001-01-01 00:00:00.\n\n" +
		"## bob, 1970-01-01 00:00:01\n\n> x\n\n<details><summary>Reasoning</summary>\n\nhm\n\n</details>\n\na <b>bold</b> answer\n\n" +
		"**Tool** `` run `it` ``: completed, exit code 0\n\n````\n```\nout\n````\n\n**Asked** `ls`: allowed by bob, “fine”\n\n*notice: noted*\n\n" +
		"*completed, 0.0 s*\n"
	if b.String() != want {
		t.Errorf("%s\nwant\n%s", b.String(), want)
	}
}

func TestThePageEscapesWhatAnybodySaid(t *testing.T) {
	state, transcript := told().fold(t)
	var b strings.Builder
	if err := writePage(&b, state, transcript); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{"<title>A &lt;title&gt;</title>", "a &lt;b&gt;bold&lt;/b&gt; answer", "allowed by bob", "noted", "</html>"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the page", want)
		}
	}
	if strings.ContainsAny(page, "\x1b") || strings.Contains(page, "<b>") || strings.Contains(page, "<script") {
		t.Errorf("what was said is part of the page:\n%s", page)
	}
}

func TestARecordingPlaysWhatHappenedWhenItDid(t *testing.T) {
	var b strings.Builder
	c := newCast(&b)
	for _, item := range told().items[1:] {
		if err := c.event(item.Event); err != nil {
			t.Fatal(err)
		}
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	var header struct{ Version, Width, Height int }
	if err := json.Unmarshal([]byte(lines[0]), &header); err != nil || header.Version != 2 || header.Width == 0 {
		t.Fatalf("%s: %v", lines[0], err)
	}
	var played strings.Builder
	last := 0.0
	for _, line := range lines[1:] {
		var frame [3]any
		if err := json.Unmarshal([]byte(line), &frame); err != nil || frame[1] != "o" {
			t.Fatalf("%s: %v", line, err)
		}
		if at := frame[0].(float64); at < last {
			t.Errorf("%s: time goes back", line)
		} else {
			last = at
		}
		played.WriteString(frame[2].(string))
	}
	want := "bob> x\r\nhm\r\na <b>bold</b> answer\r\n[shell] run `it`\r\n```\r\nout\r\n? q  command  ls\r\n! q allowed by bob\r\n(completed)\r\n"
	if played.String() != want {
		t.Errorf("%q\nwant %q", played.String(), want)
	}
	if last != 10 {
		t.Errorf("it takes %v s, want 10", last)
	}
}
