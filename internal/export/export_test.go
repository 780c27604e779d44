package export

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"agentctl/internal/output"
	"agentctl/protocol"
)

// turnEvents returns the events of a turn with one item of every kind.
func turnEvents() []*protocol.Event {
	var events []*protocol.Event
	add := func(typ protocol.Type, data any) {
		seq := uint64(len(events) + 1)
		events = append(events, &protocol.Event{
			Session: "s", Seq: seq, Turn: "t1", Time: time.Unix(int64(seq), 0), Type: typ,
			By:   &protocol.Actor{Name: "bob"},
			Data: protocol.MustEncode(data),
		})
	}
	zero := 0
	add(protocol.MessageUser, protocol.MessageUserData{Message: protocol.Message{MessageID: "m1", Text: "x"}})
	add(protocol.ReasoningDelta, protocol.PartDeltaData{Part: "r", Text: "hm"})
	add(protocol.TextDelta, protocol.PartDeltaData{Part: "p", Text: "a <b>bold\x1b[31m</b> "})
	add(protocol.TextDelta, protocol.PartDeltaData{Part: "p", Text: "answer"})
	add(protocol.TextContent, protocol.TextContentData{
		Content: protocol.Content{Type: "image", Name: "<plot>", MediaType: "image/png", Blob: "b_1", Bytes: 9},
	})
	add(protocol.TextContent, protocol.TextContentData{
		Content: protocol.Content{Type: "link", Name: "`docs`", Path: "https://x.org/<a>"},
	})
	add(protocol.ToolStarted, protocol.ToolStartedData{Tool: "c", Name: "shell", Title: "run `it`"})
	add(protocol.ToolOutput, protocol.ToolOutputData{Tool: "c", Text: "```\nout\n"})
	add(protocol.ToolEnded, protocol.ToolEndedData{Tool: "c", Status: "completed", ExitCode: &zero})
	add(protocol.ApprovalRequested, protocol.Approval{Request: "q", Kind: protocol.ApproveCommand, Command: "ls"})
	add(protocol.ApprovalResolved,
		protocol.ApprovalResolvedData{Request: "q", Outcome: protocol.Allowed, Reason: "fine"})
	add(protocol.Notice, protocol.NoticeData{Level: protocol.LevelInfo, Message: "noted"})
	add(protocol.TurnEnded, protocol.TurnEndedData{Reason: protocol.ReasonCompleted})
	return events
}

func reduce(t *testing.T, events []*protocol.Event) (*protocol.State, *protocol.Transcript) {
	t.Helper()
	state, transcript := &protocol.State{}, &protocol.Transcript{}
	for _, e := range events {
		if err := state.Apply(e); err != nil {
			t.Fatal(err)
		}
		if _, err := transcript.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	state.Session, state.Title = "s", "A <title>"
	return state, transcript
}

func TestMarkdownTellsTheTurn(t *testing.T) {
	state, transcript := reduce(t, turnEvents())
	var b strings.Builder
	m := Markdown{W: &output.CleanWriter{W: &b}, Reasoning: true}
	m.Header(state)
	m.Turn(transcript.Turns[0], false)
	want := "# A <title>\n\nSession s, agent -, started 0001-01-01 00:00:00.\n\n" +
		"## bob, 1970-01-01 00:00:01\n\n> x\n\n<details><summary>Reasoning</summary>\n\nhm\n\n</details>\n\na <b>bold</b> answer\n\n" +
		"(image/png, 9 bytes: `agentctl blob SESSION b_1`)\n\nLink `` `docs` ``: `https://x.org/<a>`\n\n" +
		"**Tool** `` run `it` ``: completed, exit code 0\n\n````\n```\nout\n````\n\n**Asked** `ls`: ✓ allowed · decided by bob at 1970-01-01 00:00:11 · fine\n\n*notice: noted*\n\n" +
		"*completed, 0.0 s*\n"
	if b.String() != want {
		t.Errorf("%s\nwant\n%s", b.String(), want)
	}
}

func TestHTMLEscapesText(t *testing.T) {
	state, transcript := reduce(t, turnEvents())
	var b strings.Builder
	if err := WriteHTML(&b, state, transcript); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{
		"<title>A &lt;title&gt;</title>", "a &lt;b&gt;bold&lt;/b&gt; answer",
		"(image/png, 9 bytes: `agentctl blob s b_1`)", "`https://x.org/&lt;a&gt;`",
		"✓ allowed · decided by bob", "noted", "</html>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the page", want)
		}
	}
	if strings.ContainsAny(page, "\x1b") || strings.Contains(page, "<b>") || strings.Contains(page, "<script") {
		t.Errorf("text is markup:\n%s", page)
	}
}

func TestAsciicastPlaysEventsAtTheirTime(t *testing.T) {
	var b strings.Builder
	c := NewAsciicast(&b)
	for _, e := range turnEvents() {
		if err := c.Write(e); err != nil {
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
			t.Errorf("%s: earlier than the frame before", line)
		} else {
			last = at
		}
		played.WriteString(frame[2].(string))
	}
	want := "bob> x\r\nhm\r\na <b>bold</b> answer\r\n[image <plot>]\r\n[link `docs`]\r\n[shell] run `it`\r\n```\r\nout\r\n? q  command  ls\r\n! q allowed by bob\r\n(completed)\r\n"
	if played.String() != want {
		t.Errorf("%q\nwant %q", played.String(), want)
	}
	if last != 12 {
		t.Errorf("plays %v s, want 12", last)
	}
}

func TestAsciicastShortensPauses(t *testing.T) {
	events := turnEvents()
	events[1].Time = events[0].Time.Add(time.Hour)
	var b strings.Builder
	c := NewAsciicast(&b)
	for _, e := range events[:2] {
		if err := c.Write(e); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.HasSuffix(b.String(), "[3.000,\"o\",\"hm\"]\n") {
		t.Errorf("recorded\n%s", b.String())
	}
}

func TestJSONLinesAreTheEvents(t *testing.T) {
	var b, want strings.Builder
	j := NewJSONLines(&b)
	for _, e := range turnEvents() {
		raw := e.AppendJSON(nil)
		if err := j.Write(raw); err != nil {
			t.Fatal(err)
		}
		want.Write(append(raw, '\n'))
	}
	if err := j.Flush(); err != nil || b.String() != want.String() {
		t.Errorf("%v\n%s\nwant\n%s", err, b.String(), want.String())
	}
}
