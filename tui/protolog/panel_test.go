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

func read(l *Log, r *Reader, p *Panel, t interface{ Fatal(...any) }, frames ...string) {
	for _, f := range frames {
		text, received := strings.CutPrefix(f, "<")
		l.Add(noon, !received, false, []byte(text))
	}
	reading, err := r.Next(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	p.Take(reading)
}

func TestAPanelShowsWhatItsFilterSays(t *testing.T) {
	l := NewLog()
	r, p := NewReader(l), NewPanel()
	read(l, r, p, t, `{"command":"send","data":{"text":"Fix It"}}`, `<{"type":"text.delta","data":{"text":"fixing"}}`,
		`<{"type":"text.end"}`, `{"command":"ack","data":{"seq":1}}`)
	for _, c := range []struct {
		filter Filter
		want   int
	}{
		{Filter{}, 4},
		{Filter{Direction: Sent}, 2},
		{Filter{Direction: Received}, 2},
		{Filter{Kind: "text.delta"}, 1},
		{Filter{Words: "FIX"}, 2},
		{Filter{Words: "fix it"}, 1},
		{Filter{Words: "ack"}, 1},
		{Filter{Words: "-ack"}, 3},
		{Filter{Words: "-ack fix"}, 2},
		{Filter{Words: "-"}, 0},
		{Filter{Direction: Received, Words: "fix it"}, 0},
	} {
		p.SetFilter(c.filter)
		if shown, all, _ := p.Counts(); shown != c.want || all != 4 {
			t.Errorf("%+v: %d of %d shown, want %d", c.filter, shown, all, c.want)
		}
	}
}

func TestWhatIsChosenStaysWhileMessagesCome(t *testing.T) {
	l := NewLog()
	r, p := NewReader(l), NewPanel()
	read(l, r, p, t, `{"type":"a"}`, `{"type":"b"}`, `{"type":"c"}`)
	p.Move(-1)
	read(l, r, p, t, `{"type":"d"}`)
	if k := p.Chosen().Kind; k != "b" || p.Following() {
		t.Errorf("chosen is %s", k)
	}
	p.SetFilter(Filter{Words: "b"})
	p.SetFilter(Filter{})
	if k := p.Chosen().Kind; k != "b" {
		t.Errorf("after a filter %s is chosen", k)
	}
	p.Last()
	read(l, r, p, t, `{"type":"e"}`)
	if k := p.Chosen().Kind; k != "e" {
		t.Errorf("it follows, but %s is chosen", k)
	}
}

func TestAPanelKeepsItsBoundsAndItsChoice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := NewLog()
		r, p := NewReader(l), NewPanel()
		n := 0
		for range rapid.IntRange(1, 15).Draw(t, "steps") {
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0, 1:
				var frames []string
				size := rapid.SampledFrom([]struct{ frames, pad int }{{1, 0}, {3, 0}, {900, 0}, {2, MaxBytes / 6}}).Draw(t, "size")
				pad := strings.Repeat("x", size.pad)
				for range size.frames {
					n++
					frames = append(frames, fmt.Sprintf(`{"type":"t%d","n":"%d%s"}`, n%3, n, pad))
				}
				read(l, r, p, t, frames...)
			case 2:
				p.Move(rapid.IntRange(-50, 50).Draw(t, "by"))
			case 3:
				p.SetFilter(Filter{Kind: rapid.SampledFrom([]string{"", "t1", "none"}).Draw(t, "kind")})
			case 4:
				p.First()
			}
			shown, all, bytes := p.Counts()
			if bytes > MaxBytes && all > 1 || all > 0 && p.messages[all-1].Frame-p.messages[0].Frame >= MaxFrames {
				t.Fatalf("%d messages, %d bytes", all, bytes)
			}
			if m := p.Chosen(); (m == nil) != (shown == 0) || m != nil && !p.filter.passes(m, p.words) {
				t.Fatalf("%d shown, chosen %+v", shown, m)
			}
			rows := p.Rows(80, 10, dress())
			if len(rows) != min(10, shown) {
				t.Fatalf("%d rows of %d", len(rows), shown)
			}
		}
	})
}

func TestAPanelGivesUpTheOldest(t *testing.T) {
	big := Message{Kind: "big", Text: make([]byte, MaxBytes/4)}
	for _, c := range []struct {
		name string
		give func(p *Panel, i int)
		left int
	}{
		{"bytes", func(p *Panel, i int) { m := big; m.Frame = uint64(i); p.Take(Reading{Messages: []Message{m}}) }, 4},
		{"frames", func(p *Panel, i int) {
			p.Take(Reading{Messages: []Message{{Frame: uint64(i * MaxFrames / 3), Kind: "f"}}})
		}, 3},
		{"one that is too large alone", func(p *Panel, i int) {
			p.Take(Reading{Messages: []Message{{Frame: uint64(i), Kind: "huge", Text: make([]byte, MaxBytes+1)}}})
		}, 1},
	} {
		p := NewPanel()
		for i := 1; i <= 9; i++ {
			c.give(p, i)
			if i == 8 {
				p.Move(-1) // the one before it
			}
			shown, all, bytes := p.Counts()
			kept := 0
			for _, m := range p.messages {
				kept += len(m.Text)
			}
			if want := min(i, c.left); shown != want || all != want || bytes != kept {
				t.Errorf("%s: after %d, %d of %d are shown, %d bytes of %d", c.name, i, shown, all, bytes, kept)
			}
		}
		if m := p.Chosen(); m == nil || c.left > 2 && m.Frame != p.messages[len(p.messages)-3].Frame {
			t.Errorf("%s: chosen is %+v", c.name, m)
		}
		p.SetFilter(Filter{Kind: "none"})
		p.SetFilter(Filter{})
		if shown, all, _ := p.Counts(); shown != all || p.Chosen() == nil {
			t.Errorf("%s: %d of %d after a filter", c.name, shown, all)
		}
	}
}

func TestAFilterSaysWhatItShows(t *testing.T) {
	for want, f := range map[string]Filter{
		"": {}, "→ sent": {Direction: Sent}, "← received": {Direction: Received}, "ack": {Kind: "ack"}, `"a \"b\""`: {Words: `a "b"`},
		`→ sent, ack, "x"`: {Direction: Sent, Kind: "ack", Words: "x"},
	} {
		if got := f.String(); got != want || f.Empty() != (want == "") {
			t.Errorf("%+v says %q, want %q", f, got, want)
		}
	}
	p := NewPanel()
	p.Take(Reading{Messages: []Message{{Note: true, Kind: "connection", Text: []byte("opened")}, {Sent: true, Kind: "ack 1"}}})
	for f, want := range map[Filter]int{{Direction: Received}: 1, {Kind: "other"}: 1, {Direction: Sent, Kind: "ack"}: 2, {Words: "opened"}: 1, {Words: "-opened"}: 1} {
		p.SetFilter(f)
		if shown, _, _ := p.Counts(); shown != want {
			t.Errorf("%+v shows %d, want %d: notes pass any direction and type", f, shown, want)
		}
	}
}

func TestAnAnswerIsOfTheNewestThatWasSentWithItsID(t *testing.T) {
	p := NewPanel()
	p.Take(Reading{Messages: []Message{{ID: "1", Sent: true, Kind: "old"}, {ID: "1", Sent: true, Kind: "new"}, {ID: "1", Kind: "received"}}})
	p.Take(Reading{Answers: []Answer{{"1", 3 * time.Millisecond}, {"2", time.Second}}})
	for i, want := range []bool{false, true, false} {
		if m := p.messages[i]; m.Answered != want || (m.Latency == 3*time.Millisecond) != want {
			t.Errorf("%s is answered: %v after %v", m.Kind, m.Answered, m.Latency)
		}
	}
}

func TestARowTellsAsMuchAsThereIsRoomFor(t *testing.T) {
	mark := func(name string) func(...string) string {
		return func(s ...string) string { return "<" + name + ":" + strings.Join(s, "") + ">" }
	}
	plain := func(s ...string) string { return strings.Join(s, "") }
	d := &Styles{Sent: mark("s"), Received: mark("r"), Note: mark("n"), Bad: mark("b"), Dim: plain, Chosen: plain, Zone: time.UTC}
	sent := Message{Time: noon, Sent: true, Size: 1234, Seq: "45", Kind: "send", ID: "7", Answered: true, Latency: 25 * time.Millisecond, Text: []byte(`{"command":"send","data":{"text":"hi"}}`)}
	received := Message{Time: noon, Size: 5, Kind: "text.delta", Text: []byte(`words`)}
	bad, part := sent, received
	bad.Bad, part.Part = true, 1
	for _, c := range []struct {
		m     Message
		width int
		want  string
	}{
		{sent, 59, " 12:00:00.000 <s:→> <s:send> 25ms"},
		{sent, 60, " 12:00:00.000 <s:→>  1.2 k <s:send                  >     25ms"},
		{sent, 70, " 12:00:00.000 <s:→>  1.2 k        45 <s:send                  >     25ms"},
		{sent, 90, " 12:00:00.000 <s:→>  1.2 k        45 <s:send                  >     25ms  {\"text\":\"hi\"}"},
		{sent, 120, " 12:00:00.000 <s:→>  1.2 k        45 <s:send                  > 7            25ms  {\"text\":\"hi\"}"},
		{bad, 59, " 12:00:00.000 <b:→> <b:send> 25ms"},
		{received, 59, " 12:00:00.000 <r:←> <r:text.delta> "},
		{received, 90, " 12:00:00.000 <r:←>    5 B           <r:text.delta            >           words"},
		{part, 59, "            ⋮ <r:←> <r:text.delta> "},
		{Message{Time: noon, Note: true, Text: []byte("opened ws://host")}, 59, " 12:00:00.000 <n:·> <n:opened ws://host>"},
	} {
		if got := c.m.row(c.width, d); got != ansi.Truncate(c.want, c.width, "…") {
			t.Errorf("in %d cells:\n%q, want\n%q", c.width, got, c.want)
		}
	}
	for n, want := range map[int]string{0: "0 B", 999: "999 B", 1000: "1.0 k", 99_999: "100.0 k", 100_000: "100 k", 999_999: "999 k", 1_000_000: "1.0 M", 12_340_000: "12.3 M"} {
		if got := Size(n); got != want {
			t.Errorf("%d bytes are %q, want %q", n, got, want)
		}
	}
	for d, want := range map[time.Duration]string{0: "0.0ms", 1500 * time.Microsecond: "1.5ms", 10 * time.Millisecond: "10ms", 999 * time.Millisecond: "999ms", time.Second: "1.0s", 65 * time.Second: "65.0s"} {
		if got := took(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
	for _, c := range []struct {
		s     string
		cells int
		want  string
	}{{"ab", 4, "ab  "}, {"ab", -4, "  ab"}, {"abcdef", 4, "abc…"}, {"漢字漢", 4, "漢… "}, {"", -2, "  "}} {
		if got := cell(c.s, c.cells); got != c.want {
			t.Errorf("%q in %d cells is %q, want %q", c.s, c.cells, got, c.want)
		}
	}
}
