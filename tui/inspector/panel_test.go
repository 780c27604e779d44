package inspector

import (
	"context"
	"fmt"
	"strings"
	"testing"

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
