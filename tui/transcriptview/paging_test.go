package transcriptview

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentctl/internal/dev/historygen"
	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/server/history"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// finishedTurns draws the events of finished turns.
func finishedTurns(t *rapid.T) []protocol.Event {
	g := &historygen.Generator{T: t, State: &protocol.State{Session: "s1"}, Now: time.Unix(0, 0)}
	var events []protocol.Event
	length := rapid.IntRange(1, 60).Draw(t, "events")
	for len(events) < length || g.State.Turn != nil {
		en := g.Next()
		if len(events) >= length && g.State.Seq > g.State.Turn.First {
			en = g.TurnEnd()
		}
		e := protocol.Event{
			Session: "s1", Seq: g.State.Seq + 1, Turn: en.Turn, Time: g.Now,
			Type: en.Type, By: en.By, Data: protocol.MustEncode(en.Data),
		}
		if err := g.State.Apply(&e); err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	return events
}

// page returns a page of history with events[begin:end].
func page(events []protocol.Event, begin, end int) *protocol.HistoryResult {
	p := &protocol.HistoryResult{First: events[begin].First(), Last: events[end-1].Seq, More: begin > 0}
	for i := range events[begin:end] {
		p.Events = append(p.Events, events[begin+i].AppendJSON(nil))
	}
	return p
}

// prependPages adds the events in pages of random sizes. It calls check after each.
func prependPages(t *rapid.T, v *View, events []protocol.Event, check func()) {
	for end := len(events); end > 0; {
		begin := end - rapid.IntRange(1, end).Draw(t, "size")
		for begin > 0 && events[begin].Turn == "" {
			begin-- // outside of turns, where a page does not begin
		}
		if err := v.PrependPage(page(events, begin, end)); err != nil {
			t.Fatal(err)
		}
		check()
		end = begin
	}
}

// pagedView returns a view without events that has more in pages.
func pagedView(last uint64) *View {
	v := New(ui.NewStyles(time.UTC, ""))
	v.Reset(last, &protocol.State{}, 60, 10)
	return v
}

// items returns what the items of a view show, the places of its anchors, and their seqs.
func items(v *View) []string {
	var out []string
	for id := v.List.First(); id <= v.List.Last(); id++ {
		b := v.List.Item(id).Block(60, v.List.Collapsed(id))
		out = append(out, fmt.Sprint(b.Header, b.Body, b.Footer))
	}
	for kind := TurnAnchor; kind <= StepAnchor; kind++ {
		for id, ok := v.List.NextAnchor(kind, v.List.First()-1, 1); ok; id, ok = v.List.NextAnchor(kind, id, 1) {
			out = append(out, fmt.Sprint("kind ", kind, " at ", id-v.List.First()))
		}
	}
	for id := v.List.First(); id <= v.List.Last(); id++ {
		out = append(out, fmt.Sprint("seq ", seqOf(v, id)))
	}
	return append(out, fmt.Sprint(v.ChangedFiles()))
}

func seqOf(v *View, id transcript.ID) uint64 { return v.List.Item(id).(transcript.Anchor).Seq() }

// Pages that begin within turns show, once all are there, what one page of everything shows.
func TestPagesThatBeginWithinTurnsAddUpToWholeTurns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := finishedTurns(t)
		last := uint64(len(events))
		whole, paged := pagedView(last), pagedView(last)
		if err := whole.PrependPage(page(events, 0, len(events))); err != nil {
			t.Fatal(err)
		}
		prependPages(t, paged, events, func() {})
		got, want := items(paged), items(whole)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("pages show\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// The changed files include files of pages, also of a page that begins within the turn of a change.
func TestTheFilesOfPagesAreListed(t *testing.T) {
	old, text := "x\n", "y\nz\n"
	j := tuitest.Journal{At: tuitest.Start}
	for _, path := range []string{"a/one.go", "two.go", "a/one.go"} {
		j.UserMessage(tuitest.Ada, path, "Change it.")
		j.Add(protocol.ToolStarted, protocol.ToolStartedData{Tool: path, Name: "edit", Kind: protocol.ToolEdit})
		j.Add(protocol.ToolOutput, protocol.ToolOutputData{
			Tool: path, Content: []protocol.Content{{Type: "diff", Path: path, Old: &old, New: text}},
		})
		j.Add(protocol.ToolEnded, protocol.ToolEndedData{Tool: path, Status: protocol.ToolCompleted})
		j.EndTurn(protocol.ReasonCompleted)
	}
	var events []protocol.Event
	for _, u := range j.Take() {
		events = append(events, *u.Event)
	}
	v := pagedView(uint64(len(events)))
	for end := len(events); end > 0; end -= min(end, 4) {
		if err := v.PrependPage(page(events, max(0, end-4), end)); err != nil {
			t.Fatal(err)
		}
		v.ChangedFiles()
	}
	want := []ChangedFile{{"a/one.go", 4, 2}, {"two.go", 2, 1}}
	if got := v.ChangedFiles(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Every hit of a search has its item in the list, whether the server sent the events one by one or
// joined, and in whatever pages they came. The list is in the order of the seqs.
func TestEveryHitHasItsItem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := finishedTurns(t)
		var tr protocol.Transcript // of the server
		for i := range events {
			if _, err := tr.Apply(&events[i]); err != nil {
				t.Fatal(err)
			}
		}
		query, err := protocol.ParseQuery(rapid.SampledFrom([]string{"a", "e", "l", "o", "two", "规划"}).Draw(t, "query"))
		if err != nil {
			t.Fatal(err)
		}
		var hits []protocol.Hit
		for _, turn := range tr.Turns {
			hits = append(hits, history.SearchTurn("s1", query, turn)...)
		}
		if rapid.Bool().Draw(t, "joined") {
			events = protocol.JoinDeltas(events)
		}
		live := rapid.IntRange(0, len(events)).Draw(t, "live") // a turn that begins after the snapshot
		for live < len(events) && events[live].Type != protocol.MessageUser {
			live++
		}
		v := pagedView(0)
		if live > 0 {
			v = pagedView(events[live-1].Seq)
		}
		for i := range events[live:] {
			v.AddMark("lost")
			if err := v.Apply(&events[live+i]); err != nil {
				t.Fatal(err)
			}
		}
		check := func() {
			for id := v.List.First() + 1; id <= v.List.Last(); id++ {
				if seqOf(v, id) < seqOf(v, id-1) {
					t.Fatalf("item %d has seq %d, the one before has %d", id, seqOf(v, id), seqOf(v, id-1))
				}
			}
			for i := range hits {
				id, ok := v.FindHit(&hits[i])
				if loaded := v.OlderThan() <= hits[i].Seq; loaded && !ok {
					t.Fatalf("no item of %+v", hits[i])
				}
				if ok && !shows(v.List.Item(id), &hits[i]) {
					t.Fatalf("%+v is found in %+v", hits[i], v.List.Item(id))
				}
			}
		}
		check()
		prependPages(t, v, events[:live], check)
	})
}

// shows reports whether an item is of the kind and the id of a hit.
func shows(item transcript.Item, h *protocol.Hit) bool {
	switch h.Kind {
	case protocol.HitUser:
		if m, ok := item.(*steeredMessage); ok {
			return m.message.MessageID == h.Item
		}
		m, ok := item.(*userMessage)
		return ok && m.message.MessageID == h.Item
	case protocol.HitError:
		n, ok := item.(*note)
		return ok && n.kind == StepAnchor
	}
	it := item.(interface{ protocolItem() *protocol.Item }).protocolItem()
	return it != nil && it.Kind == protocol.ItemKind(h.Kind) && it.ID == h.Item
}

// An item that a page completes stays expanded. It gets another seq, and another item its old one.
func TestACompletedItemStaysExpanded(t *testing.T) {
	events := []protocol.Event{
		{Type: protocol.MessageUser, Data: protocol.MustEncode(protocol.MessageUserData{})},
		{Type: protocol.ToolStarted, Data: protocol.MustEncode(protocol.ToolStartedData{Tool: "a"})},
		{Type: protocol.ToolStarted, Data: protocol.MustEncode(protocol.ToolStartedData{Tool: "b"})},
		{Type: protocol.ToolOutput, Data: protocol.MustEncode(protocol.ToolOutputData{Tool: "b", Text: "1"})},
		{Type: protocol.ToolOutput, Data: protocol.MustEncode(protocol.ToolOutputData{Tool: "a", Text: "2"})},
		{Type: protocol.TurnEnded, Data: protocol.MustEncode(protocol.TurnEndedData{Reason: protocol.ReasonCompleted})},
	}
	for i := range events {
		events[i].Session, events[i].Turn, events[i].Seq = "s1", "t1", uint64(i+1)
	}
	call := func(tool string) *protocol.Hit {
		seq := 1 + uint64(strings.Index(" ab", tool))
		return &protocol.Hit{Turn: "t1", First: 1, Seq: seq, Kind: protocol.HitTool, Item: tool}
	}
	v := pagedView(6)
	expanded := func() (tools string) {
		for _, tool := range []string{"a", "b"} {
			if id, ok := v.FindHit(call(tool)); ok && !v.List.Collapsed(id) {
				tools += tool
			}
		}
		return tools
	}
	if err := v.PrependPage(page(events, 3, 6)); err != nil {
		t.Fatal(err)
	}
	id, ok := v.FindHit(call("a"))
	if !ok || expanded() != "" {
		t.Fatalf("%d, %v: expanded %q", id, ok, expanded())
	}
	v.List.SetCollapsed(id, false)
	for _, cut := range []int{2, 0} {
		if err := v.PrependPage(page(events, cut, min(cut+2, 3))); err != nil {
			t.Fatal(err)
		}
		if got := expanded(); got != "a" {
			t.Errorf("after the page from event %d: expanded %q", cut, got)
		}
	}
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
