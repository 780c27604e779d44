package eventlog

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentctl/internal/dev/historygen"
	"agentctl/protocol"
)

// journalTest is a journal that commits to a memStore when the test says so, and its state.
type journalTest struct {
	*Journal
	state *protocol.State
	store *memStore
}

func newJournalTest() *journalTest {
	w := &journalTest{store: &memStore{}, state: &protocol.State{Session: "s"}}
	w.Journal = NewJournal(NewLog("s", "e", w.store, NewCache(1<<20), 0), nil)
	return w
}

// commit commits the next batch.
func (w *journalTest) commit(t testingT, fail error) {
	t.Helper()
	if w.next == nil {
		return
	}
	b := w.take()
	if fail == nil {
		if err := w.store.Commit([]*Batch{b}); err != nil {
			t.Fatalf("commit: %v", err)
		}
	}
	for _, f := range w.FinishCommit(fail) {
		f.Done(fail)
	}
}

func (w *journalTest) events(t testingT, folded bool) []protocol.Event {
	t.Helper()
	lines, _ := w.store.read(0, uint64(len(w.store.lines)), folded, 1<<40, nil)
	return decodeLines(t, lines)
}

// add appends an event with data.
func (w *journalTest) add(t testingT, en Entry, data any) {
	t.Helper()
	en.Data = protocol.MustEncode(data)
	if d, ok := (&protocol.Event{Type: en.Type, Data: en.Data}).Delta(); ok {
		en.Delta = d
	}
	if _, err := w.Append(w.state, &en); err != nil {
		t.Fatalf("append: %v", err)
	}
}

// delta appends text of a part of the turn t.
func (w *journalTest) delta(t testingT, part, text string) {
	t.Helper()
	w.add(t, Entry{Type: protocol.TextDelta, Turn: "t"}, protocol.PartDeltaData{Part: part, Text: text})
}

func TestStoredFoldsSayWhatTheRawEventsSay(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newJournalTest()
		g := &historygen.Generator{T: rt, State: w.state, Now: time.Now()}
		for range rapid.IntRange(0, 150).Draw(rt, "events") {
			en := g.Next()
			if en.Type == protocol.JoinedDeltas { // no agent emits it
				continue
			}
			if d, ok := en.Data.(protocol.PartDeltaData); ok && rapid.Bool().Draw(rt, "long") {
				d.Text = strings.Repeat("x", protocol.MaxText)
				en.Data = d
			}
			w.add(rt, Entry{Type: en.Type, Turn: en.Turn, Task: en.Task, Parent: en.Parent, By: en.By}, en.Data)
			switch rapid.IntRange(0, 9).Draw(rt, "then") {
			case 0:
				w.commit(rt, nil)
			case 1:
				w.endRun() // as FoldRun does
			}
		}
		w.endRun()
		w.commit(rt, nil)
		raw, folded := w.events(rt, false), w.events(rt, true)
		want := reduce(rt, protocol.JoinDeltas(raw))
		if got, live := reduce(rt, folded), string(protocol.MustEncode(w.state)); got != want || live != want {
			rt.Fatalf("folded: %s\nraw: %s\nlive: %s", got, want, live)
		}
		if got, want := transcript(rt, folded), transcript(rt, raw); got != want {
			rt.Fatalf("folded: %s\nraw: %s", got, want)
		}
		for _, f := range w.store.folds {
			for _, e := range decodeLines(rt, f.Line) {
				checkFold(rt, &e)
				if e.First() != f.First || e.Seq != f.Last {
					rt.Fatalf("fold %d..%d holds %d..%d", f.First, f.Last, e.First(), e.Seq)
				}
			}
			if len(f.Line) > 2*protocol.MaxEvent {
				rt.Fatalf("a fold of %d bytes", len(f.Line))
			}
		}
	})
}

// checkFold fails the test when a fold has more text than allowed.
func checkFold(t testingT, e *protocol.Event) {
	t.Helper()
	var d struct {
		Text  string
		Parts []protocol.JoinedPart
	}
	if err := e.Decode(&d); err != nil {
		t.Fatalf("decode fold: %v", err)
	}
	n := len(d.Text)
	for _, p := range d.Parts {
		n += len(p.Text)
	}
	if n > protocol.MaxJoined {
		t.Fatalf("a run of %d bytes of text", n)
	}
}

func TestAFoldThatWasNotKeptIsNeverRead(t *testing.T) {
	w := newJournalTest()
	w.delta(t, "p", "a")
	w.delta(t, "p", "b")
	w.commit(t, nil)
	w.delta(t, "p", "lost")
	w.endRun()
	var commitErr error
	w.AfterCommit(func(err error) { commitErr = err })
	w.commit(t, ErrStoreFailed)
	if commitErr == nil || w.log.Position().Seq != 2 || len(w.store.folds) != 0 {
		t.Fatalf("waiters %v, visible %d, folds %v", commitErr, w.log.Position().Seq, w.store.folds)
	}
	w.state = stateAfter(t, w.events(t, false))
	w.delta(t, "p", "lost, too") // its run is open
	w.commit(t, ErrStoreFailed)
	w.state = stateAfter(t, w.events(t, false))
	w.delta(t, "p", "c")
	w.delta(t, "p", "d")
	w.endRun()
	w.commit(t, nil)
	if folds := w.store.folds; len(folds) != 1 || folds[0].First != 3 || folds[0].Last != 4 {
		t.Errorf("folds %+v", folds)
	}
	var text string
	for _, e := range w.events(t, true) {
		d, _ := e.Delta()
		text += d.Text
	}
	if text != "abcd" {
		t.Errorf("folded text %q", text)
	}
}

func TestARunOfDeltasIsReadAsOneEvent(t *testing.T) {
	w := newJournalTest()
	for range 100 {
		w.delta(t, "p", "x")
	}
	w.commit(t, nil) // a run continues across commits
	if w.log.bytes == 0 || w.Uncommitted() != 0 {
		t.Errorf("%d bytes in memory, %d uncommitted", w.log.bytes, w.Uncommitted())
	}
	for range 100 {
		w.delta(t, "q", "y")
		w.add(t, Entry{Type: protocol.ToolOutput, Turn: "t"}, protocol.ToolOutputData{Tool: "t", Text: "z"})
	}
	w.add(t, Entry{Type: protocol.Notice, Turn: "t"}, protocol.NoticeData{Message: "n"})
	w.delta(t, "p", "1")
	w.delta(t, "p", "2")
	w.endRun()
	w.delta(t, "p", "alone")
	w.endRun()
	for range 3 {
		w.delta(t, "p", strings.Repeat("x", protocol.MaxText))
	}
	w.endRun()
	w.commit(t, nil)
	var got []string
	for _, e := range w.events(t, true) {
		got = append(got, fmt.Sprintf("%s %d-%d", e.Type, e.First(), e.Seq))
	}
	fits := uint64(protocol.MaxJoined / protocol.MaxText)
	want := []string{"fold 1-300", "notice 301-301", "text.delta 302-303", "text.delta 304-304"}
	for at := uint64(305); at <= 307; at += fits {
		want = append(want, fmt.Sprintf("text.delta %d-%d", at, min(at+fits-1, 307)))
	}
	if !slices.Equal(got, want) {
		t.Errorf("folded %q, want %q", got, want)
	}
}

func TestAnEntryOverTheLimitChangesNothing(t *testing.T) {
	w := newJournalTest()
	w.delta(t, "p", "a")
	large := json.RawMessage(`"` + strings.Repeat("x", protocol.MaxEvent) + `"`)
	_, err := w.Append(w.state, &Entry{Type: protocol.Raw, Data: large})
	if protocol.CodeOf(err) != protocol.CodeTooLarge || w.state.Seq != 1 || w.next.Last != 1 {
		t.Errorf("%v, state at %d, batch through %d", err, w.state.Seq, w.next.Last)
	}
}

// Waiters for a commit are called after it and in order; updates of the list are called before the
// events are visible.
func TestTheListIsUpdatedBeforeEventsAreVisibleAndWaitersAfterIt(t *testing.T) {
	w := newJournalTest()
	var calls []string
	note := func(what string) { calls = append(calls, fmt.Sprint(what, " at ", w.log.Position().Seq)) }
	w.AfterCommit(func(error) { note("nothing to wait for") })
	w.delta(t, "p", "a")
	w.BeforeVisible(func() { note("replaced") })
	w.BeforeVisible(func() { note("list") })
	w.AfterCommit(func(error) { note("first") })
	w.AfterCommit(func(error) { note("second") })
	w.commit(t, nil)
	if want := []string{"nothing to wait for at 0", "list at 0", "first at 1", "second at 1"}; !slices.Equal(calls, want) {
		t.Errorf("calls %q, want %q", calls, want)
	}
	if !w.Idle() {
		t.Error("the journal is not idle")
	}
}
