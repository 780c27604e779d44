package protolog

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

func TestParseFrame(t *testing.T) {
	for _, c := range []struct{ text, label, id, seq string }{
		{`{"id":"7","command":"send","session":"s","key":"K","data":{"text":"hi"}}`, "send", "7", ""},
		{`{"command":"ack","session":"s","data":{"seq":45}}`, "ack", "", "45"},
		{`{"session":"s","seq":46,"type":"text.delta","data":{"part":"t","text":"x"}}`, "text.delta", "", "46"},
		{`{"session":"s","seq":46,"first_seq":40,"type":"fold"}`, "fold", "", "40–46"},
		{`{"id":"7","result":{"status":"started"}}`, "answer", "7", ""},
		{`{"id":"7","error":{"code":"conflict","message":"decided"}}`, "error conflict", "7", ""},
		{`{"_tag":"Request","id":"3","tag":"Subscribe","payload":{}}`, "Request Subscribe", "3", ""},
		{
			`{"_tag":"Chunk","requestId":"3","values":[{"_tag":"TurnStarted"},{"_tag":"X"}]}`,
			"Chunk TurnStarted +1", "3", "",
		},
		{`{"id":"550e","type":"user_input","payload":{"input":[]}}`, "user_input", "550e", ""},
		{`{"type":"event","requestId":"r1","sequence":9}`, "event", "r1", "9"},
		{`{"type":{"odd":1},"id":[2],"values":3}`, "text", "", ""},
		{`[1,2]`, "text", "", ""},
		{`hello`, "text", "", ""},
		{``, "empty", "", ""},
	} {
		m := parseFrame(Frame{Data: []byte(c.text), Size: len(c.text)})
		if len(m) != 1 || m[0].Label != c.label || m[0].ID != c.id || m[0].Seq != c.seq {
			t.Errorf("%s: got %+v, want label %q, ID %q, seq %q", c.text, m, c.label, c.id, c.seq)
		}
	}
}

func TestParseFrameLines(t *testing.T) {
	m := parseFrame(Frame{Number: 4, Data: []byte("{\"type\":\"a\"}\n{\"type\":\"b\"}\n"), Size: 26})
	if len(m) != 2 || m[0].Label != "a" || m[1].Label != "b" || m[0].Part != 0 || m[1].Part != 1 || m[1].Frame != 4 {
		t.Errorf("got %+v, want parts a and b of frame 4", m)
	}
	if m := parseFrame(Frame{Data: []byte("{\n\"type\":\"a\"\n}")}); len(m) != 1 || m[0].Label != "a" {
		t.Errorf("indented JSON: got %+v, want one message", m)
	}
}

func TestReaderPairsResponse(t *testing.T) {
	l := NewLog()
	l.AddFrame(noon, true, false, []byte(`{"id":"1","command":"send"}`))
	l.AddFrame(noon, true, false, []byte(`{"id":"2","command":"list"}`))
	l.AddFrame(noon.Add(23*time.Millisecond), false, false, []byte(`{"id":"2","error":{"code":"timeout"}}`))
	r := NewReader(l)
	batch, err := r.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	list := NewList()
	list.Append(batch)
	l.AddFrame(noon.Add(4*time.Second), false, false, []byte(`{"id":"1","result":{}}`))
	if batch, err = r.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	list.Append(batch)
	if m := list.Selected(); m.Label != "send answer" || m.Latency != 4*time.Second {
		t.Errorf("got %+v, want the answer to send after 4s", m)
	}
	for i, want := range []time.Duration{4 * time.Second, 23 * time.Millisecond, 23 * time.Millisecond} {
		if m := list.messages[i]; !m.Answered || m.Latency != want {
			t.Errorf("message %d: got answered %v after %v, want %v", i, m.Answered, m.Latency, want)
		}
	}
	if m := list.messages[2]; m.Label != "list error timeout" || !m.IsError {
		t.Errorf("got %+v, want a timeout error for list", m)
	}
}

func TestReaderNewConnectionResetsIDs(t *testing.T) {
	l := NewLog()
	l.AddFrame(noon, true, false, []byte(`{"id":"1","command":"send"}`))
	l.AddNote(noon, "opened again")
	l.AddFrame(noon, false, false, []byte(`{"id":"1","result":{}}`))
	batch, err := NewReader(l).Next(t.Context())
	if err != nil || len(batch.Responses) != 0 || batch.Messages[2].Answered {
		t.Errorf("got %+v, error %v, want no response", batch, err)
	}
}

func TestReaderReportsGap(t *testing.T) {
	l := NewLog()
	for range MaxFrames + 5 {
		l.AddFrame(noon, true, false, []byte(`{}`))
	}
	batch, err := NewReader(l).Next(t.Context())
	if err != nil || !strings.HasPrefix(string(batch.Messages[0].Text), "5 earlier frames") {
		t.Errorf("got %q, error %v, want 5 dropped frames", batch.Messages[0].Text, err)
	}
}

// plainStyles returns styles that leave text as it is.
func plainStyles() *Styles {
	plain := func(s ...string) string { return strings.Join(s, "") }
	return &Styles{
		Sent: plain, Received: plain, Note: plain, Error: plain, Dim: plain, Selected: plain, Location: time.UTC,
	}
}

func isControl(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 }

func FuzzRows(f *testing.F) {
	f.Add([]byte(`{"id":"1","command":"send","data":{"text":"你好 👩‍👩‍👧‍👦"}}`), 80)
	f.Add([]byte("{\"type\":\"\\u001b[2J\"}\n{\"type\":\"b\"}"), 200)
	f.Add([]byte("\x1b]0;title\x07"), 3)
	f.Add([]byte("0"), 1)
	f.Fuzz(func(t *testing.T, data []byte, width int) {
		width = min(max(width, 1), 300)
		l := NewLog()
		l.AddFrame(noon, false, false, data)
		l.AddNote(noon, string(data))
		batch, err := NewReader(l).Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		list := NewList()
		list.Append(batch)
		for _, row := range list.Rows(width, 50, plainStyles()) {
			if n := ansi.StringWidth(row); n > width {
				t.Errorf("got %d cells, want at most %d: %q", n, width, row)
			}
			if !utf8.ValidString(row) || strings.ContainsFunc(row, isControl) {
				t.Errorf("invalid UTF-8 or control characters: %q", row)
			}
		}
	})
}
