package output

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/eventlog"
	"agentctl/server/session/record"
)

// agentEvent returns an event of each type that an agent may emit, with the values given.
func agentEvent(kind int, id, text string, raw []byte, replace bool) agent.Event {
	e := agent.Event{Task: id, Parent: id}
	content := protocol.Content{Type: "other", Text: text, Data: raw}
	if len(raw) == 0 {
		content.Data = nil
	}
	all := []struct {
		typ  protocol.Type
		data any
	}{
		{protocol.TextStart, protocol.PartStartData{Part: id, Agent: text}},
		{protocol.TextDelta, protocol.PartDeltaData{Part: id, Text: text}},
		{protocol.ReasoningDelta, &protocol.PartDeltaData{Part: id, Text: text}},
		{protocol.TextEnd, protocol.PartEndData{Part: id}},
		{protocol.ToolStarted, protocol.ToolStartedData{Tool: id, Title: text, Input: raw}},
		{protocol.ToolInput, protocol.ToolInputData{Tool: id, Text: text}},
		{protocol.ToolInput, protocol.ToolInputData{Tool: id, Input: raw}},
		{protocol.ToolOutput, protocol.ToolOutputData{Tool: id, Text: text}},
		{
			protocol.ToolOutput,
			protocol.ToolOutputData{
				Tool:    id,
				Text:    text,
				Replace: replace,
				Content: []protocol.Content{content, content},
			},
		},
		{protocol.ToolEnded, protocol.ToolEndedData{Tool: id, Output: raw, Error: text}},
		{
			protocol.PlanUpdated,
			protocol.PlanTasksData{Tasks: []protocol.Task{{ID: id, Title: text, After: []string{text, id}}}},
		},
		{protocol.PlanCancelled, nil},
		{protocol.TaskProgress, protocol.TaskData{Task: id, Message: text}},
		{protocol.UsageUpdated, protocol.Usage{Model: text, Input: math.MaxInt64}},
		{protocol.AgentOptions, protocol.Options{Name: id, Commands: []protocol.SlashCommand{{Name: text}}}},
		{protocol.ErrorRaised, protocol.ErrorData{Message: text, Fields: map[string]string{id: text, text: id}}},
		{protocol.Notice, protocol.NoticeData{Level: id, Message: text}},
		{protocol.Raw, protocol.RawData{Source: id, Method: text, Data: raw}},
	}
	one := all[kind%len(all)]
	e.Type, e.Data = one.typ, one.data
	return e
}

// entriesOf returns the entries of an agent's event.
func entriesOf(e agent.Event) ([]eventlog.Entry, error) {
	said, err := Sanitize(e)
	return said.Entries, err
}

func FuzzWhatAgentsSayFitsTheLog(f *testing.F) {
	deep := []byte(strings.Repeat("[", 9999) + strings.Repeat("]", 9999))
	for kind := range 18 {
		f.Add(kind, "p1", "hello\x00\u2028", []byte(`{"a": [1, "b"]}`), 1, true)
		f.Add(kind, "p1", "\xff\xfe€", []byte(`{"a":`), 30000, false)
		f.Add(kind, strings.Repeat("\x01", 5000), "\x00", deep, 100000, false)
		f.Add(kind, "\xff", "ü", []byte("{\"\xff\":\"\xff\",\"n\":12345678901234567890}"), 300000, true)
	}
	f.Fuzz(func(t *testing.T, kind int, id, text string, raw []byte, n int, replace bool) {
		text = strings.Repeat(text, max(0, n%(1+(300<<10)/max(1, len(text)))))
		if n%7 == 3 {
			raw = append(append([]byte(`["`), bytes.Repeat([]byte("z"), 300<<10)...), []byte(`"]`)...)
		}
		e := agentEvent(max(0, kind), id, text, raw, replace)
		said, err := Sanitize(e)
		entries := said.Entries
		if err != nil {
			t.Fatalf("%s: %v", e.Type, err)
		}
		state := &protocol.State{Turn: &protocol.TurnState{Turn: "t_0123456789abcdef"}}
		log := eventlog.NewLog("s_0123456789abcdef", "e", nil, eventlog.NewCache(1<<20), 0)
		j := eventlog.NewJournal(log, nil)
		var whole strings.Builder
		blobs := map[string][]byte{}
		for i, en := range entries {
			en.Turn = "t_0123456789abcdef"
			ev, err := j.Append(state, &en)
			if err != nil {
				t.Fatalf("%s %d of %d: %v", e.Type, i+1, len(entries), err)
			}
			checkLine(t, ev.AppendJSON(nil))
			for _, b := range en.Blobs {
				blobs[b.ID] = b.Data
			}
			var d struct{ Text string }
			if err := ev.Decode(&d); err != nil {
				t.Fatal(err)
			}
			whole.WriteString(d.Text)
			if e.Type != protocol.ToolStarted && said.Tool != ID(said.Tool) || said.Part != ID(said.Part) {
				t.Errorf("ids %q, %q", said.Part, said.Tool)
			}
		}
		switch d := e.Data.(type) {
		case protocol.PartDeltaData, *protocol.PartDeltaData, protocol.ToolOutputData:
			if whole.String() != protocol.ValidText(text) {
				t.Errorf("%s: %d bytes of text became %d", e.Type, len(text), whole.Len())
			}
		case protocol.RawData:
			if len(text) > record.LongText { // truncated
				return
			}
			var kept protocol.RawData
			if err := json.Unmarshal(entries[0].Data, &kept); err != nil {
				t.Fatal(err)
			}
			if kept.Blob != "" && !bytes.Contains(blobs[kept.Blob], sanitizeJSON(d.Data)) ||
				kept.Blob == "" && !bytes.Equal(kept.Data, sanitizeJSON(d.Data)) {
				t.Errorf("data lost: %.100s", kept.Data)
			}
		}
	})
}

// checkLine fails the test unless a line is valid in the log.
func checkLine(t *testing.T, line []byte) {
	t.Helper()
	var compact bytes.Buffer
	var e protocol.Event
	switch {
	case len(line) >= protocol.MaxEvent:
		t.Fatalf("%d bytes", len(line))
	case !utf8.Valid(line):
		t.Fatalf("not UTF-8: %.200q", line)
	case json.Compact(&compact, line) != nil || !bytes.Equal(compact.Bytes(), line):
		t.Fatalf("not compact JSON: %.200q", line)
	case json.Unmarshal(line, &e) != nil || nesting(line) > maxNesting+8:
		t.Fatalf("cannot be decoded: %.200q", line)
	}
}

func TestWhatDoesNotFitItsTypeIsRefused(t *testing.T) {
	for _, e := range []agent.Event{
		{Type: protocol.TurnEnded, Data: protocol.TurnEndedData{}},
		{Type: protocol.ApprovalResolved, Data: protocol.ApprovalResolvedData{}},
		{Type: protocol.Heartbeat, Data: protocol.HeartbeatData{}},
		{Type: "no.such", Data: protocol.NoticeData{}},
		{Type: protocol.ToolEnded, Data: protocol.PartDeltaData{Part: "p", Text: "x"}},
		{Type: protocol.UsageUpdated, Data: protocol.Usage{Cost: math.NaN()}},
		{Type: protocol.Notice, Data: make(chan int)},
	} {
		if entries, err := entriesOf(e); err == nil {
			t.Errorf("%s with %T became %v", e.Type, e.Data, entries)
		}
	}
}

func TestWhatIsTooLargeKeepsItsNumbers(t *testing.T) {
	raw := `{"n":12345678901234567890,"text":"` + strings.Repeat("x", protocol.MaxEvent) + `"}`
	entries, err := entriesOf(
		agent.Event{Type: protocol.ToolStarted, Data: protocol.ToolStartedData{Tool: "t", Input: json.RawMessage(raw)}},
	)
	if err != nil || len(entries) != 1 || !bytes.Contains(entries[0].Data, []byte(`"n":12345678901234567890`)) {
		t.Errorf("%v: %.200s", err, entries[0].Data)
	}
	if b := entries[0].Blobs; len(b) != 1 || len(b[0].Data) != protocol.MaxEvent {
		t.Errorf("%d blobs", len(b))
	}
}

func BenchmarkSanitizeDelta(b *testing.B) {
	b.ReportAllocs()
	text := strings.Repeat("word ", 5)
	for b.Loop() {
		if _, err := Sanitize(
			agent.Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p1", Text: text}},
		); err != nil {
			b.Fatal(err)
		}
	}
}

func TestWhatAnAgentSaysKeepsWhereItBelongs(t *testing.T) {
	for kind := range 18 {
		e := agentEvent(kind, "p1", "text", []byte(`{"a":1}`), true)
		e.Task, e.Parent = "k", "up"
		entries, err := entriesOf(e)
		if err != nil {
			t.Fatal(err)
		}
		for _, en := range entries {
			if en.Type != e.Type || en.Task != "k" || en.Parent != "up" {
				t.Errorf("%s became %s of %q, %q", e.Type, en.Type, en.Task, en.Parent)
			}
		}
	}
}

func TestForeignJSONIsNestedSoDeep(t *testing.T) {
	for raw, want := range map[string]int{
		`1`: 0, `[]`: 1, `{"a":[{}],"b":[]}`: 3, `[[],[],[[]]]`: 3, `["[{[{"]`: 1, `["\"[","\\",[]]`: 2,
		`[{},{},{}]`: 2,
	} {
		if got := nesting([]byte(raw)); got != want {
			t.Errorf("%s is nested %d deep, want %d", raw, got, want)
		}
	}
	deep := strings.Repeat("[", maxNesting) + strings.Repeat("]", maxNesting)
	if got := sanitizeJSON([]byte(deep)); string(got) != deep {
		t.Errorf("JSON at the limit became %.20s", got)
	}
	if got := sanitizeJSON([]byte("[" + deep + "]")); got[0] != '"' {
		t.Errorf("JSON over the limit became %.20s", got)
	}
}

func TestAnImageIsKeptAsItsBytes(t *testing.T) {
	image := bytes.Repeat([]byte{0x89, 'P', 'N', 'G'}, protocol.MaxEvent/16)
	for _, c := range []struct {
		data      any
		mediaType string
		want      []byte // nil: the JSON
		blobType  string
	}{
		{image, "image/png", image, "image/png"},
		{image, "", image, "application/octet-stream"},
		{strings.Repeat("?", protocol.MaxEvent), "image/png", nil, "image/png"}, // not base64
	} {
		data := protocol.MustEncode(c.data)
		if c.want == nil {
			c.want = data
		}
		list := []protocol.Content{{Type: "image", MediaType: c.mediaType, Data: data}}
		blobs := Contents(list)
		if len(blobs) != 1 || !bytes.Equal(blobs[0].Data, c.want) || list[0].Blob != blobs[0].ID ||
			list[0].Bytes != int64(len(c.want)) || list[0].Data != nil || blobs[0].MediaType != c.blobType {
			t.Errorf("%.10v %s: %d blobs, content %+v", c.data, c.mediaType, len(blobs), list[0])
		}
	}
}

func TestASmallImageIsABlobTooAndStaysInTheEvent(t *testing.T) {
	for _, typ := range []string{"image", "audio", "blob"} {
		list := []protocol.Content{{Type: typ, Data: json.RawMessage(`"iVBORw0KGgo="`)}}
		blobs := Contents(list)
		if len(blobs) != 1 || string(blobs[0].Data) != "\x89PNG\r\n\x1a\n" || list[0].Blob != blobs[0].ID ||
			list[0].Bytes != 8 || string(list[0].Data) != `"iVBORw0KGgo="` {
			t.Errorf("%s: %d blobs, content %+v", typ, len(blobs), list[0])
		}
	}
}

func TestManySmallImagesFitAnEvent(t *testing.T) {
	d := protocol.ToolOutputData{Tool: "t"}
	for i := range 20 {
		image := bytes.Repeat([]byte{byte(i)}, 20<<10)
		d.Content = append(d.Content, protocol.Content{Type: "image", Data: protocol.MustEncode(image)})
	}
	entries, err := entriesOf(agent.Event{Type: protocol.ToolOutput, Data: d})
	if err != nil || len(entries) != 1 || len(entries[0].Blobs) != 20 || entries[0].Type != protocol.ToolOutput {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	var got protocol.ToolOutputData
	if err := json.Unmarshal(entries[0].Data, &got); err != nil {
		t.Fatal(err)
	}
	inline := 0
	for i, c := range got.Content {
		if c.Blob != entries[0].Blobs[i].ID || c.Bytes != 20<<10 {
			t.Errorf("image %d: blob %s, %d bytes", i, c.Blob, c.Bytes)
		}
		if c.Data != nil {
			inline++
		}
	}
	if inline != 4 {
		t.Errorf("%d images are in the event, want 4: those that fit 128 KiB", inline)
	}
}

func TestALongTextInAMessageIsABlob(t *testing.T) {
	for _, size := range []int{10, inlineContent + 1} {
		c := protocol.Content{Type: "text", Path: "file:///notes.md", Text: strings.Repeat("x", size)}
		entries, err := entriesOf(agent.Event{Type: protocol.TextContent, Data: protocol.TextContentData{Content: c}})
		if err != nil || len(entries) != 1 {
			t.Fatalf("%d entries, %v", len(entries), err)
		}
		var d protocol.TextContentData
		if err := json.Unmarshal(entries[0].Data, &d); err != nil {
			t.Fatal(err)
		}
		long := size > inlineContent
		got := d.Content
		if (got.Text == "") != long || (got.Bytes == int64(size)) != long || (got.Blob != "") != long {
			t.Errorf("%d bytes: blob %q, text of %d bytes", size, got.Blob, len(got.Text))
		}
		if long && (len(entries[0].Blobs) != 1 || string(entries[0].Blobs[0].Data) != c.Text) {
			t.Errorf("%d bytes: %d blobs", size, len(entries[0].Blobs))
		}
	}
}

func TestAPayloadIsKeptOnceUnderWhatItHolds(t *testing.T) {
	content := func(data, media string) protocol.Content {
		return protocol.Content{
			Type:      "other",
			MediaType: media,
			Data:      json.RawMessage(`"` + strings.Repeat(data, protocol.MaxEvent) + `"`),
		}
	}
	entries, err := entriesOf(
		agent.Event{Type: protocol.ToolOutput, Data: protocol.ToolOutputData{Tool: "t", Content: []protocol.Content{
			content("x", "image/png"), content("x", ""), content("y", ""), {Type: "text", Data: json.RawMessage(`1`)},
		}}},
	)
	if err != nil || len(entries) != 1 || len(entries[0].Blobs) != 3 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	b := entries[0].Blobs
	if b[0].ID != b[1].ID || b[0].ID == b[2].ID || b[0].MediaType != "image/png" ||
		b[1].MediaType != "application/json" ||
		len(b[0].Data) != protocol.MaxEvent+2 {
		t.Errorf("blobs %s %s, %s %s, %s", b[0].ID, b[0].MediaType, b[1].ID, b[1].MediaType, b[2].ID)
	}
	var d protocol.ToolOutputData
	if err := json.Unmarshal(entries[0].Data, &d); err != nil || len(d.Content) != 4 {
		t.Fatalf("%v: %.200s", err, entries[0].Data)
	}
	for i, c := range d.Content[:3] {
		if c.Blob != b[i].ID || c.Bytes != int64(len(b[i].Data)) || c.Data != nil {
			t.Errorf("content %d: blob %s of %d bytes, %.20s", i, c.Blob, c.Bytes, c.Data)
		}
	}
	if c := d.Content[3]; c.Blob != "" || string(c.Data) != "1" {
		t.Errorf("small content: %+v", c)
	}
	long := strings.Repeat("z", record.LongText+1)
	entries, err = entriesOf(
		agent.Event{
			Type: protocol.AgentOptions,
			Data: protocol.Options{
				Name:     strings.Repeat("n", protocol.MaxEvent),
				Commands: []protocol.SlashCommand{{Name: long}},
			},
		},
	)
	if err != nil || len(entries) != 1 || len(entries[0].Blobs) != 2 || entries[0].Type != protocol.AgentOptions {
		t.Errorf("%d entries with %d blobs, %v", len(entries), len(entries[0].Blobs), err)
	}
	many := make([]protocol.SlashCommand, protocol.MaxEvent/100)
	for i := range many {
		many[i].Name = strings.Repeat("n", 200)
	}
	entries, err = entriesOf(agent.Event{Type: protocol.AgentOptions, Data: protocol.Options{Commands: many}})
	if err != nil || len(entries) != 1 || len(entries[0].Blobs) != 1 || entries[0].Type != protocol.Raw {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	var raw protocol.RawData
	if err := json.Unmarshal(entries[0].Data, &raw); err != nil || raw.Source != "agent" ||
		raw.Method != "agent.options" || raw.Blob != entries[0].Blobs[0].ID ||
		raw.Bytes != int64(len(entries[0].Blobs[0].Data)) {
		t.Errorf("data that cannot be truncated: %+v, %v", raw, err)
	}
}
