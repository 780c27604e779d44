package sessionview

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/transcript"
	"agentctl/tui/transcriptview"
)

// countingItem is an item of three lines that counts the calls of its methods.
type countingItem struct {
	kind  transcript.AnchorKind
	seq   uint64
	text  string
	calls *int
}

func (s *countingItem) AnchorKind() transcript.AnchorKind { return s.kind }

func (s *countingItem) Seq() uint64 { return s.seq }

func (s *countingItem) Estimate(int, bool) int { *s.calls++; return 2 }

func (s *countingItem) Block(int, bool) transcript.Block {
	*s.calls++
	return transcript.Block{Header: []string{""}, Body: []string{" " + s.text, " more"}}
}

// longView is a view with a running turn below many counting items.
type longView struct {
	m       *View
	journal *tuitest.Journal
	calls   int
}

// newLongView returns a view of n counting items and a running turn.
func newLongView(t testing.TB, n int) *longView {
	l := &longView{journal: tuitest.NewJournal()}
	session := tuitest.NewFakeSession()
	l.m = testView(t.Context(), session, func() time.Time { return tuitest.Start }, func() string { return "" })
	l.update(tea.WindowSizeMsg{Width: 120, Height: 36})
	l.journal.CaughtUp()
	l.applyJournal()
	var hits []protocol.Hit
	for i := range n {
		kind, seq := transcript.AnchorKind(0), uint64(i+2)
		switch i % 50 {
		case 0:
			kind = transcriptview.TurnAnchor
		case 10:
			kind = transcriptview.StepAnchor
		case 20:
			kind = transcriptview.StepAnchor
		}
		if i%25 == 0 {
			hits = append(hits, tuitest.Hit(strconv.Itoa(i), seq, seq, protocol.HitText, "t"))
		}
		l.m.transcript.View.List.Append(&countingItem{kind, seq, "needle " + strconv.Itoa(i), &l.calls}, false)
	}
	l.journal.Seq = uint64(n) + 1 // of the last item
	l.journal.UserMessage(tuitest.Ada, "last", "go")
	l.journal.Text("t3")
	l.applyJournal()
	slices.Reverse(hits)
	session.Reply = func(a tuitest.Command) (any, error) { return protocol.SearchResult{Hits: hits}, nil }
	return l
}

func (l *longView) applyJournal() { l.update(l.journal.Take()) }

// update applies a message, draws, and applies the messages of the returned command.
func (l *longView) update(msg tea.Msg) {
	cmd, _ := l.m.Update(msg)
	l.m.View()
	for _, msg := range tuitest.Messages(cmd) {
		if msg != nil {
			l.update(msg)
		}
	}
}

func (l *longView) press(names ...string) {
	for _, name := range names {
		l.update(tuitest.KeyPress(name))
	}
}

// actions must cost the same for every length of the transcript. prepare runs before do, which is
// measured.
var actions = []struct {
	name    string
	prepare func(*longView)
	do      func(*longView)
}{
	{"key", nil, func(l *longView) { l.press("x") }},
	{"delta", nil, func(l *longView) {
		l.journal.Add(protocol.TextDelta, protocol.PartDeltaData{Part: "t3", Text: " word"})
		l.applyJournal()
	}},
	{"page up", nil, func(l *longView) { l.press("pgup") }},
	{"turn before", func(l *longView) { l.press("tab") }, func(l *longView) { l.press("[") }},
	{"tool before", func(l *longView) { l.press("tab") }, func(l *longView) { l.press("K") }},
	{"error before", func(l *longView) { l.press("tab") }, func(l *longView) { l.press("K") }},
	{"line in copy mode", func(l *longView) { l.press("tab", "space") }, func(l *longView) { l.press("up") }},
	{"next match", func(l *longView) {
		l.press("ctrl+f")
		for _, r := range "needle" {
			l.press(string(r))
		}
		l.press("enter")
	}, func(l *longView) { l.press(">") }},
}

const (
	few  = 1_000
	many = 100_000
)

func TestActionCostIndependentOfLength(t *testing.T) {
	for _, action := range actions {
		t.Run(action.name, func(t *testing.T) {
			costs := map[int][]int{}
			for _, n := range []int{few, many} {
				l := newLongView(t, n)
				if action.prepare != nil {
					action.prepare(l)
				}
				for range 20 {
					l.calls = 0
					action.do(l)
					costs[n] = append(costs[n], l.calls)
				}
			}
			if fmt.Sprint(costs[few]) != fmt.Sprint(costs[many]) {
				t.Errorf("got calls %v of %d items, %v of %d items, want the same", costs[few], few, costs[many], many)
			}
		})
	}
}

func BenchmarkDeeds(b *testing.B) {
	for _, action := range actions {
		for _, n := range []int{few, many} {
			b.Run(fmt.Sprintf("%s/%d", strings.ReplaceAll(action.name, " ", "-"), n), func(b *testing.B) {
				l := newLongView(b, n)
				if action.prepare != nil {
					action.prepare(l)
				}
				l.calls = 0
				done := 0
				for b.Loop() {
					action.do(l)
					done++
					if moves := action.name != "key" && action.name != "delta"; moves && done%10 == 0 {
						// Return to the end before the smaller list is exhausted.
						b.StopTimer()
						if action.name == "next match" {
							for range 10 {
								l.press("<")
							}
						}
						l.press("G")
						b.StartTimer()
					}
				}
				b.ReportMetric(float64(l.calls)/float64(b.N), "calls/op")
			})
		}
	}
}

// recordedHistory is a session of 100,000 events as a server sends it: a snapshot, the folded
// events of the running turn, and the earlier turns by pages.
type recordedHistory struct {
	attach []remote.Update
	pages  []*protocol.HistoryResult // newest first
}

const (
	pastTurns  = 500
	pageTurns  = 100
	pastDeltas = 98
)

// newRecordedHistory returns a history with half of its events in finished turns, and half in one
// running turn.
func newRecordedHistory() *recordedHistory {
	h := &recordedHistory{}
	j := tuitest.NewJournal()
	seq := uint64(0)
	fold := func(typ protocol.Type, data any, n int) remote.Update {
		e := &protocol.Event{
			Session:  "s1",
			Seq:      seq + uint64(n),
			FirstSeq: seq + 1,
			Turn:     j.Turn,
			Time:     j.At,
			Type:     typ,
			Data:     protocol.MustEncode(data),
		}
		seq, j.Seq = e.Seq, e.Seq
		return remote.Update{Event: e}
	}
	text := func(n int) string { return strings.Repeat("some words\n\n", n/2) }
	var page *protocol.HistoryResult
	var pages []*protocol.HistoryResult
	j.Pending, j.Seq = nil, 0
	for i := range pastTurns {
		if i%pageTurns == 0 {
			page = &protocol.HistoryResult{Epoch: "k3f9ab", First: seq + 1, More: i > 0}
			pages = append([]*protocol.HistoryResult{page}, pages...)
		}
		j.UserMessage(tuitest.Ada, fmt.Sprint("m", i), "go on")
		j.Add(protocol.TextStart, protocol.PartStartData{Part: "t"})
		seq = j.Seq
		j.Pending = append(
			j.Pending,
			fold(protocol.TextDelta, protocol.PartDeltaData{Part: "t", Text: text(pastDeltas)}, pastDeltas),
		)
		j.EndTurn(protocol.ReasonCompleted)
		seq = j.Seq
		for _, u := range j.Take() {
			page.Events = append(page.Events, protocol.MustEncode(u.Event))
		}
		page.Last = seq
	}
	h.pages = pages
	h.attach = []remote.Update{
		{Conn: &remote.Conn{State: remote.Connected, Connection: "c1", By: tuitest.Ada}},
		{Attached: &protocol.SubscribeResult{
			Session: "s1", Mode: protocol.ModeSnapshot, After: protocol.Position{Epoch: "k3f9ab", Seq: seq},
			Snapshot: &protocol.Snapshot{Epoch: "k3f9ab", State: &protocol.State{Session: "s1", Seq: seq}},
		}},
	}
	j.UserMessage(tuitest.Ada, "last", "go on and on")
	for i := 0; j.Seq < 100_000; i++ {
		part, tool := fmt.Sprint("t", i), fmt.Sprint("c", i)
		j.Add(protocol.TextStart, protocol.PartStartData{Part: part})
		seq = j.Seq
		j.Pending = append(
			j.Pending,
			fold(protocol.TextDelta, protocol.PartDeltaData{Part: part, Text: text(200)}, 200),
		)
		j.Add(protocol.ToolStarted, protocol.ToolStartedData{Tool: tool, Name: "shell", Title: "go test ./..."})
		seq = j.Seq
		j.Pending = append(
			j.Pending,
			fold(protocol.ToolOutput, protocol.ToolOutputData{Tool: tool, Text: text(50)}, 50),
		)
		j.Add(protocol.ToolEnded, protocol.ToolEndedData{Tool: tool, Status: protocol.ToolCompleted})
	}
	j.CaughtUp()
	h.attach = append(h.attach, j.Take()...)
	return h
}

// openView opens a view and draws its first complete frame. It returns the view and the duration.
func (h *recordedHistory) openView(t testing.TB) (m *View, frame time.Duration) {
	session := tuitest.NewFakeSession()
	session.Reply = func(a tuitest.Command) (any, error) {
		if d, ok := a.Data.(protocol.HistoryData); ok {
			for _, p := range h.pages {
				if p.Last < d.Before {
					return p, nil
				}
			}
		}
		return protocol.HistoryResult{}, nil
	}
	begin := time.Now()
	m = testView(t.Context(), session, func() time.Time { return tuitest.Start }, func() string { return "" })
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 36})
	at := h.attach[1].Attached
	fresh := *at.Snapshot.State
	at.Snapshot.State = &fresh
	m.Update(remote.Updates(h.attach))
	m.View()
	frame = time.Since(begin)
	at.Snapshot.State = &protocol.State{Session: "s1", Seq: at.After.Seq}
	return m, frame
}

// applyEvents returns how long it takes to apply the events of the catch-up to a state and a
// transcript, without a view.
func (h *recordedHistory) applyEvents(t testing.TB) time.Duration {
	begin := time.Now()
	state := &protocol.State{Session: "s1", Seq: h.attach[1].Attached.After.Seq}
	words := protocol.Transcript{}
	for _, u := range h.attach {
		if e := u.Event; e != nil && e.Durable() {
			if err := state.Apply(e); err != nil {
				t.Fatal(err)
			}
			if _, err := words.Apply(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	return time.Since(begin)
}

// BenchmarkFirstFrame opens a session of 100,000 events, and for comparison an empty one.
func BenchmarkFirstFrame(b *testing.B) {
	full := newRecordedHistory()
	j := tuitest.NewJournal()
	j.CaughtUp()
	empty := &recordedHistory{attach: j.Take()}
	var frames, blank, fold time.Duration
	for b.Loop() {
		_, d := full.openView(b)
		frames += d
		_, d = empty.openView(b)
		blank += d
		fold += full.applyEvents(b)
	}
	per := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 / float64(b.N) }
	b.ReportMetric(per(frames), "ms/frame")
	b.ReportMetric(per(blank), "ms/empty-frame")
	b.ReportMetric(per(fold), "ms/fold")
	b.ReportMetric(viewHeap(b, full), "MiB/heap")
}

// viewHeap returns the memory in MiB of a view with the whole history loaded.
func viewHeap(t testing.TB, h *recordedHistory) float64 {
	before := heapSize()
	m, _ := h.openView(t)
	for range 2 * len(h.pages) {
		cmd, _ := m.transcript.RequestOlder()
		for _, msg := range tuitest.Messages(cmd) {
			if msg != nil {
				m.Update(msg)
			}
		}
		m.transcript.View.List.ScrollToTop()
		m.canvas.Dirty = true
		m.View()
	}
	if m.transcript.View.OlderThan() != 0 || m.transcript.View.List.Len() < 3*pastTurns {
		t.Fatalf("older turns are not loaded: got %d items", m.transcript.View.List.Len())
	}
	used := heapSize() - before
	runtime.KeepAlive(m)
	return float64(used) / (1 << 20)
}

func heapSize() int64 {
	var s runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}

func TestMemoryOf100kEvents(t *testing.T) {
	if used := viewHeap(t, newRecordedHistory()); used > 24 {
		t.Errorf("a session of 100,000 events uses %.0f MiB", used)
	} else {
		t.Logf("%.1f MiB", used)
	}
}
