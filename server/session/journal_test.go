package session

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/session/record"
)

// journalTest is a journal that commits to a memStore at once.
type journalTest struct {
	journal
	store *memStore
}

func newJournalTest() *journalTest {
	w := &journalTest{store: newMemStore()}
	w.journal = journal{
		log:       newLog("s", "e", w.store, newLogCache(1<<20), 0),
		state:     &protocol.State{Session: "s"},
		committed: make(chan error, 1),
	}
	w.nextBatch().Create = &Record{Epoch: "e"}
	return w
}

// commit commits the next batch.
func (w *journalTest) commit(t testingT, fail error) {
	t.Helper()
	if w.batch == nil {
		return
	}
	b := w.takeBatch()
	w.inFlight, w.inFlightTail = b, w.nextTail
	w.nextTail = commitTail{}
	if fail == nil {
		if err := w.store.Commit([]*Batch{b}); err != nil {
			t.Fatalf("commit: %v", err)
		}
	}
	for _, f := range w.finishCommit(fail) {
		f.done(fail)
	}
}

func (w *journalTest) events(t testingT, folded bool) []protocol.Event {
	t.Helper()
	s := w.store.sessions["s"]
	lines, _ := s.read(0, s.rec.Head, folded, 1<<40, nil)
	return decodeLines(t, lines)
}

func TestStoredFoldsSayWhatTheRawEventsSay(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newJournalTest()
		add := func(turn string, e agent.Event) {
			entries, err := sanitizeEvent(e)
			if err != nil {
				rt.Fatalf("sanitize: %v", err)
			}
			for _, en := range entries {
				if _, err := w.append(turn, &en); err != nil {
					rt.Fatalf("append: %v", err)
				}
			}
		}
		ours := func(turn string, typ protocol.Type, data any) {
			raw, err := record.Encode(data)
			if err == nil {
				_, err = w.append(turn, &entry{typ: typ, data: raw})
			}
			if err != nil {
				rt.Fatalf("append: %v", err)
			}
		}
		for _, turn := range []string{"t1", "t2"} {
			ours(turn, protocol.MessageUser, protocol.MessageUserData{Message: protocol.Message{MessageID: "m" + turn}})
			for range rapid.IntRange(0, 60).Draw(rt, "events") {
				add(turn, randomEvent.Draw(rt, "speech"))
				switch rapid.IntRange(0, 9).Draw(rt, "then") {
				case 0:
					w.commit(rt, nil)
				case 1:
					w.endRun() // as attach does
				}
			}
			ours(turn, protocol.TurnEnded, protocol.TurnEndedData{Reason: protocol.ReasonCompleted})
		}
		w.commit(rt, nil)
		raw, folded := w.events(rt, false), w.events(rt, true)
		want := reduce(rt, "s", protocol.JoinDeltas(raw))
		if got := reduce(rt, "s", folded); string(encodeState(got)) != string(encodeState(want)) ||
			string(encodeState(w.state)) != string(encodeState(want)) {
			rt.Fatalf("folded: %s\nraw: %s\nlive: %s", encodeState(got), encodeState(want), encodeState(w.state))
		}
		if got, want := transcript(rt, folded), transcript(rt, raw); got != want {
			rt.Fatalf("folded: %s\nraw: %s", got, want)
		}
		for _, f := range w.store.sessions["s"].folds {
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
	say := func(text string) {
		for _, en := range splitDelta(entry{typ: protocol.TextDelta},
			protocol.Delta{Part: "p", Kind: protocol.KindText, Text: text}) {
			if _, err := w.append("t", &en); err != nil {
				t.Fatal(err)
			}
		}
	}
	say("a")
	say("b")
	w.commit(t, nil)
	say("lost")
	w.endRun()
	var commitErr error
	w.afterCommit(func(err error) { commitErr = err })
	w.commit(t, ErrStoreFailed)
	if commitErr == nil || w.log.Position().Seq != 2 || len(w.store.sessions["s"].folds) != 0 {
		t.Fatalf("waiters %v, visible %d, folds %v", commitErr, w.log.Position().Seq, w.store.sessions["s"].folds)
	}
	w.state = reduce(t, "s", w.events(t, false))
	say("lost, too") // its run is open
	w.commit(t, ErrStoreFailed)
	w.state = reduce(t, "s", w.events(t, false))
	say("c")
	say("d")
	w.endRun()
	w.commit(t, nil)
	if folds := w.store.sessions["s"].folds; len(folds) != 1 || folds[0].First != 3 || folds[0].Last != 4 {
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
	say := func(events ...agent.Event) {
		for _, e := range events {
			entries, err := sanitizeEvent(e)
			if err != nil {
				t.Fatal(err)
			}
			for _, en := range entries {
				if _, err := w.append("t", &en); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	text := func(part, text string) agent.Event {
		return agent.Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: part, Text: text}}
	}
	for range 100 {
		say(text("p", "x"))
	}
	w.commit(t, nil) // a run goes on over commits
	if w.log.bytes == 0 || w.uncommitted != 0 {
		t.Errorf("%d bytes in memory, %d uncommitted", w.log.bytes, w.uncommitted)
	}
	for range 100 {
		say(text("q", "y"), agent.Event{Type: protocol.ToolOutput, Data: protocol.ToolOutputData{Tool: "t", Text: "z"}})
	}
	say(agent.Event{Type: protocol.Notice, Data: protocol.NoticeData{Message: "n"}}, text("p", "1"), text("p", "2"))
	w.endRun()
	say(text("p", "alone"))
	w.endRun()
	say(
		text("p", strings.Repeat("x", protocol.MaxText)),
		text("p", strings.Repeat("x", protocol.MaxText)),
		text("p", strings.Repeat("x", protocol.MaxText)),
	)
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
