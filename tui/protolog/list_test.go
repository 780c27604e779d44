package protolog

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

// readFrames adds frames to the log, received if they start with "<", and appends them to the list.
func readFrames(l *Log, r *Reader, list *List, t interface{ Fatal(...any) }, frames ...string) {
	for _, f := range frames {
		text, received := strings.CutPrefix(f, "<")
		l.AddFrame(noon, !received, false, []byte(text))
	}
	batch, err := r.Next(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	list.Append(batch)
}

func TestListFilter(t *testing.T) {
	l := NewLog()
	r, list := NewReader(l), NewList()
	readFrames(l, r, list, t,
		`{"command":"send","data":{"text":"Fix It"}}`, `<{"type":"text.delta","data":{"text":"fixing"}}`,
		`<{"type":"text.end"}`, `{"command":"ack","data":{"seq":1}}`)
	for _, c := range []struct {
		filter Filter
		want   int
	}{
		{Filter{}, 4},
		{Filter{Direction: Sent}, 2},
		{Filter{Direction: Received}, 2},
		{Filter{Type: "text.delta"}, 1},
		{Filter{Query: "FIX"}, 2},
		{Filter{Query: "fix it"}, 1},
		{Filter{Query: "ack"}, 1},
		{Filter{Query: "-ack"}, 3},
		{Filter{Query: "-ack fix"}, 2},
		{Filter{Query: "-"}, 0},
		{Filter{Direction: Received, Query: "fix it"}, 0},
	} {
		list.SetFilter(c.filter)
		if shown, all, _ := list.Counts(); shown != c.want || all != 4 {
			t.Errorf("filter %+v: got %d of %d shown, want %d of 4", c.filter, shown, all, c.want)
		}
	}
}

func TestListSelection(t *testing.T) {
	l := NewLog()
	r, list := NewReader(l), NewList()
	readFrames(l, r, list, t, `{"type":"a"}`, `{"type":"b"}`, `{"type":"c"}`)
	list.MoveSelection(-1)
	readFrames(l, r, list, t, `{"type":"d"}`)
	if k := list.Selected().Label; k != "b" || list.Following() {
		t.Errorf("after a new message: got %s selected, following %v; want b, false", k, list.Following())
	}
	list.SetFilter(Filter{Query: "b"})
	list.SetFilter(Filter{})
	if k := list.Selected().Label; k != "b" {
		t.Errorf("after a filter: got %s selected, want b", k)
	}
	list.SelectLast()
	readFrames(l, r, list, t, `{"type":"e"}`)
	if k := list.Selected().Label; k != "e" {
		t.Errorf("following: got %s selected, want e", k)
	}
}

func TestListInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := NewLog()
		r, list := NewReader(l), NewList()
		n := 0
		for range rapid.IntRange(1, 15).Draw(t, "steps") {
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0, 1:
				var frames []string
				sizes := []struct{ frames, pad int }{{1, 0}, {3, 0}, {900, 0}, {2, MaxBytes / 6}}
				size := rapid.SampledFrom(sizes).Draw(t, "size")
				pad := strings.Repeat("x", size.pad)
				for range size.frames {
					n++
					frames = append(frames, fmt.Sprintf(`{"type":"t%d","n":"%d%s"}`, n%3, n, pad))
				}
				readFrames(l, r, list, t, frames...)
			case 2:
				list.MoveSelection(rapid.IntRange(-50, 50).Draw(t, "by"))
			case 3:
				list.SetFilter(Filter{Type: rapid.SampledFrom([]string{"", "t1", "none"}).Draw(t, "kind")})
			case 4:
				list.SelectFirst()
			}
			shown, all, bytes := list.Counts()
			if bytes > MaxBytes && all > 1 ||
				all > 0 && list.messages[all-1].Frame-list.messages[0].Frame >= MaxFrames {
				t.Fatalf("%d messages, %d bytes: over the limits", all, bytes)
			}
			if m := list.Selected(); (m == nil) != (shown == 0) || m != nil && !list.filter.matches(m, list.terms) {
				t.Fatalf("%d shown, selected %+v", shown, m)
			}
			rows := list.Rows(80, 10, plainStyles())
			if len(rows) != min(10, shown) {
				t.Fatalf("%d rows of %d messages, want %d", len(rows), shown, min(10, shown))
			}
		}
	})
}

func TestListDropsOldest(t *testing.T) {
	big := Message{Label: "big", Text: make([]byte, MaxBytes/4)}
	for _, c := range []struct {
		name string
		add  func(list *List, i int)
		left int
	}{
		{"bytes", func(list *List, i int) {
			m := big
			m.Frame = uint64(i)
			list.Append(Batch{Messages: []Message{m}})
		}, 4},
		{"frames", func(list *List, i int) {
			list.Append(Batch{Messages: []Message{{Frame: uint64(i * MaxFrames / 3), Label: "f"}}})
		}, 3},
		{"a single oversized message", func(list *List, i int) {
			list.Append(Batch{Messages: []Message{{Frame: uint64(i), Label: "huge", Text: make([]byte, MaxBytes+1)}}})
		}, 1},
	} {
		list := NewList()
		for i := 1; i <= 9; i++ {
			c.add(list, i)
			if i == 8 {
				list.MoveSelection(-1)
			}
			shown, all, bytes := list.Counts()
			kept := 0
			for _, m := range list.messages {
				kept += len(m.Text)
			}
			if want := min(i, c.left); shown != want || all != want || bytes != kept {
				t.Errorf("%s: after %d: got %d of %d shown, %d bytes, want %d messages of %d bytes",
					c.name, i, shown, all, bytes, want, kept)
			}
		}
		if m := list.Selected(); m == nil || c.left > 2 && m.Frame != list.messages[len(list.messages)-3].Frame {
			t.Errorf("%s: got %+v selected", c.name, m)
		}
		list.SetFilter(Filter{Type: "none"})
		list.SetFilter(Filter{})
		if shown, all, _ := list.Counts(); shown != all || list.Selected() == nil {
			t.Errorf("%s: after a filter: got %d of %d shown, want all and a selection", c.name, shown, all)
		}
	}
}

func TestFilterString(t *testing.T) {
	for want, f := range map[string]Filter{
		"":                 {},
		"→ sent":           {Direction: Sent},
		"← received":       {Direction: Received},
		"ack":              {Type: "ack"},
		`"a \"b\""`:        {Query: `a "b"`},
		`→ sent, ack, "x"`: {Direction: Sent, Type: "ack", Query: "x"},
	} {
		if got := f.String(); got != want || f.IsZero() != (want == "") {
			t.Errorf("%+v: got %q, want %q", f, got, want)
		}
	}
	list := NewList()
	list.Append(Batch{Messages: []Message{
		{Note: true, Label: "connection", Text: []byte("opened")},
		{Sent: true, Label: "ack 1"},
	}})
	for f, want := range map[Filter]int{
		{Direction: Received}:          1,
		{Type: "other"}:                1,
		{Direction: Sent, Type: "ack"}: 2,
		{Query: "opened"}:              1,
		{Query: "-opened"}:             1,
	} {
		list.SetFilter(f)
		if shown, _, _ := list.Counts(); shown != want {
			t.Errorf("filter %+v: got %d shown, want %d: notes match any direction and type", f, shown, want)
		}
	}
}

func TestListResponseDuplicateID(t *testing.T) {
	list := NewList()
	list.Append(Batch{Messages: []Message{
		{ID: "1", Sent: true, Label: "old"},
		{ID: "1", Sent: true, Label: "new"},
		{ID: "1", Label: "received"},
	}})
	list.Append(Batch{Responses: []Response{{"1", 3 * time.Millisecond}, {"2", time.Second}}})
	for i, want := range []bool{false, true, false} {
		if m := list.messages[i]; m.Answered != want || (m.Latency == 3*time.Millisecond) != want {
			t.Errorf("message %s: got answered %v after %v, want %v", m.Label, m.Answered, m.Latency, want)
		}
	}
}

func TestRowColumns(t *testing.T) {
	mark := func(name string) func(...string) string {
		return func(s ...string) string { return "<" + name + ":" + strings.Join(s, "") + ">" }
	}
	plain := func(s ...string) string { return strings.Join(s, "") }
	styles := &Styles{
		Sent: mark("s"), Received: mark("r"), Note: mark("n"), Error: mark("b"), Dim: plain, Selected: plain,
		Location: time.UTC,
	}
	sent := Message{
		Time: noon, Sent: true, Size: 1234, Seq: "45", Label: "send", ID: "7",
		Answered: true, Latency: 25 * time.Millisecond, Text: []byte(`{"command":"send","data":{"text":"hi"}}`),
	}
	received := Message{Time: noon, Size: 5, Label: "text.delta", Text: []byte(`words`)}
	note := Message{Time: noon, Note: true, Text: []byte("opened ws://host")}
	bad, part := sent, received
	bad.IsError, part.Part = true, 1
	for _, c := range []struct {
		m     Message
		width int
		want  string
	}{
		{sent, 59, " 12:00:00.000 <s:→> <s:send> 25ms"},
		{sent, 60, " 12:00:00.000 <s:→>  1.2 k <s:send                  >     25ms"},
		{sent, 70, " 12:00:00.000 <s:→>  1.2 k        45 <s:send                  >     25ms"},
		{sent, 90, " 12:00:00.000 <s:→>  1.2 k        45 <s:send                  >     25ms  {\"text\":\"hi\"}"},
		{
			sent, 120,
			" 12:00:00.000 <s:→>  1.2 k        45 <s:send                  > 7            25ms  {\"text\":\"hi\"}",
		},
		{bad, 59, " 12:00:00.000 <b:→> <b:send> 25ms"},
		{received, 59, " 12:00:00.000 <r:←> <r:text.delta> "},
		{received, 90, " 12:00:00.000 <r:←>    5 B           <r:text.delta            >           words"},
		{part, 59, "            ⋮ <r:←> <r:text.delta> "},
		{note, 59, " 12:00:00.000 <n:·> <n:opened ws://host>"},
	} {
		if got := c.m.row(c.width, styles); got != ansi.Truncate(c.want, c.width, "…") {
			t.Errorf("width %d: got\n%q, want\n%q", c.width, got, c.want)
		}
	}
}

func TestFormatSize(t *testing.T) {
	for n, want := range map[int]string{
		0: "0 B", 999: "999 B", 1000: "1.0 k", 99_999: "100.0 k", 100_000: "100 k", 999_999: "999 k",
		1_000_000: "1.0 M", 12_340_000: "12.3 M",
	} {
		if got := FormatSize(n); got != want {
			t.Errorf("%d bytes: got %q, want %q", n, got, want)
		}
	}
}

func TestFormatLatency(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                       "0.0ms",
		1500 * time.Microsecond: "1.5ms",
		10 * time.Millisecond:   "10ms",
		999 * time.Millisecond:  "999ms",
		time.Second:             "1.0s",
		65 * time.Second:        "65.0s",
	} {
		if got := formatLatency(d); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}

func TestPadCell(t *testing.T) {
	for _, c := range []struct {
		s     string
		cells int
		want  string
	}{{"ab", 4, "ab  "}, {"ab", -4, "  ab"}, {"abcdef", 4, "abc…"}, {"漢字漢", 4, "漢… "}, {"", -2, "  "}} {
		if got := padCell(c.s, c.cells); got != c.want {
			t.Errorf("%q in %d cells: got %q, want %q", c.s, c.cells, got, c.want)
		}
	}
}
