package transcriptview

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentctl/internal/dev/historygen"
	"agentctl/protocol"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// finishedTurns draws the events of finished turns, encoded.
func finishedTurns(t *rapid.T) []json.RawMessage {
	g := &historygen.Generator{T: t, State: &protocol.State{Session: "s1"}, Now: time.Unix(0, 0)}
	var events []json.RawMessage
	length := rapid.IntRange(1, 60).Draw(t, "events")
	for len(events) < length || g.State.Turn != nil {
		en := g.Next()
		if len(events) >= length && g.State.Seq > g.State.Turn.First {
			en = g.TurnEnd()
		}
		e := protocol.Event{
			Session: "s1", Seq: g.State.Seq + 1, Turn: en.Turn, Time: g.Now, Type: en.Type, By: en.By,
			Data: protocol.MustEncode(en.Data),
		}
		if err := g.State.Apply(&e); err != nil {
			t.Fatal(err)
		}
		events = append(events, e.AppendJSON(nil))
	}
	return events
}

// pagedView returns a view without events that has more in pages.
func pagedView(last uint64) *View {
	v := New(ui.NewStyles(time.UTC, ""))
	v.Reset(last, &protocol.State{}, 60, 10)
	return v
}

// items returns what the items of a view show, and the places of its anchors.
func items(v *View) []string {
	var out []string
	for id := v.List.First(); id <= v.List.Last(); id++ {
		b := v.List.Item(id).Block(60, v.List.Collapsed(id))
		out = append(out, fmt.Sprint(b.Header, b.Body, b.Footer))
	}
	for kind := range transcript.AnchorKind(transcript.MaxAnchorKinds) {
		for id, ok := v.List.NextAnchor(kind, v.List.First()-1, 1); ok; id, ok = v.List.NextAnchor(kind, id, 1) {
			out = append(out, fmt.Sprint("kind ", kind, " at ", id-v.List.First()))
		}
	}
	for id := v.List.First(); id <= v.List.Last(); id++ {
		if a, ok := v.List.Item(id).(transcript.Anchor); ok {
			_, name := a.Anchor()
			at, found := v.List.FindAnchor(name)
			out = append(out, fmt.Sprint(name, " at ", at-v.List.First(), found))
		}
	}
	return out
}

// Pages that begin within turns show, once all are there, what one page of everything shows.
func TestPagesThatBeginWithinTurnsAddUpToWholeTurns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := finishedTurns(t)
		last := uint64(len(events))
		whole, paged := pagedView(last), pagedView(last)
		if err := whole.PrependPage(&protocol.HistoryResult{Events: events, First: 1, Last: last}); err != nil {
			t.Fatal(err)
		}
		for end := len(events); end > 0; {
			begin := end - rapid.IntRange(1, end).Draw(t, "size")
			for begin > 0 && !strings.Contains(string(events[begin]), `"turn":"`) {
				begin-- // outside of turns, where a page does not begin
			}
			page := protocol.HistoryResult{
				Events: events[begin:end], First: uint64(begin + 1), Last: uint64(end), More: begin > 0,
			}
			if err := paged.PrependPage(&page); err != nil {
				t.Fatal(err)
			}
			end = begin
		}
		got, want := items(paged), items(whole)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("pages show\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// The lines on the screen stay when a page completes the item that they are in.
func TestTheScreenStaysWhileAPageCompletesATurn(t *testing.T) {
	event := func(seq uint64, typ protocol.Type, data any) json.RawMessage {
		e := protocol.Event{
			Session: "s1", Seq: seq, Turn: "t1", Time: time.Unix(0, 0), Type: typ, Data: protocol.MustEncode(data),
		}
		return e.AppendJSON(nil)
	}
	text := func(seq uint64) json.RawMessage {
		var lines strings.Builder
		for i := range 30 {
			fmt.Fprintf(&lines, "line %d of %d\n\n", i, seq)
		}
		return event(seq, protocol.TextDelta, protocol.PartDeltaData{Part: "p", Text: lines.String()})
	}
	v := pagedView(4)
	if err := v.PrependPage(&protocol.HistoryResult{First: 3, Last: 4, More: true, Events: []json.RawMessage{
		text(3), event(4, protocol.TurnEnded, protocol.TurnEndedData{Reason: protocol.ReasonCompleted}),
	}}); err != nil {
		t.Fatal(err)
	}
	v.List.Scroll(-20)
	before := v.List.Lines()
	point := v.List.PointAt(3)
	if err := v.PrependPage(&protocol.HistoryResult{First: 1, Last: 2, Events: []json.RawMessage{
		event(1, protocol.MessageUser, protocol.MessageUserData{Message: protocol.Message{Text: "go"}}), text(2),
	}}, &point); err != nil {
		t.Fatal(err)
	}
	if after := v.List.Lines(); strings.Join(after, "\n") != strings.Join(before, "\n") {
		t.Errorf("the screen moved from\n%s\nto\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
	}
	if now := v.List.PointAt(3); now != point {
		t.Errorf("the line at %v is at %v", point, now)
	}
	if n := v.List.Len(); n != 3 {
		t.Errorf("%d items, want the message, one text and the end", n)
	}
}

// The first page is small, and the next one, which is not, is requested immediately.
func TestTheFirstPageIsSmallAndTheNextFollows(t *testing.T) {
	text := protocol.Event{
		Session: "s1", Seq: 99, Turn: "t1", Time: time.Unix(0, 0), Type: protocol.TextDelta,
		Data: protocol.MustEncode(protocol.PartDeltaData{Part: "p", Text: strings.Repeat("line\n\n", 50)}),
	}
	end := protocol.Event{
		Session: "s1", Seq: 100, Turn: "t1", Time: time.Unix(0, 0), Type: protocol.TurnEnded,
		Data: protocol.MustEncode(protocol.TurnEndedData{Reason: protocol.ReasonCompleted}),
	}
	for name, c := range map[string]struct {
		more bool
		text int // bytes of further events
		want bool
	}{
		"the end of a turn": {true, 0, true},
		"everything":        {false, 0, false},
		"a page of a server that knows no smaller ones": {true, protocol.MaxHistory, false},
	} {
		v := pagedView(100)
		d, ok := v.RequestPage(HistoryPage)
		if !ok || d.Bytes != firstPageBytes || d.Limit != HistoryPage || d.Before != 101 {
			t.Fatalf("%s: requested %+v, %v", name, d, ok)
		}
		page := protocol.HistoryResult{First: 99, Last: 100, More: c.more}
		page.Events = []json.RawMessage{text.AppendJSON(nil), end.AppendJSON(nil)}
		for n := 0; n < c.text; n += len(page.Events[0]) {
			page.Events = append(page.Events, page.Events[0])
		}
		if err := v.PrependPage(&page); err != nil {
			t.Fatal(err)
		}
		if v.Short() != c.want {
			t.Errorf("%s: limited by its size: %v", name, !c.want)
		}
		if !c.want {
			continue
		}
		if d, ok := v.RequestPage(HistoryPage); !ok || d.Bytes != 0 || d.Before != 99 || v.Short() {
			t.Errorf("%s: then requested %+v, %v", name, d, ok)
		}
	}
}
