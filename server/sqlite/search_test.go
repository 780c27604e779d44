package sqlite_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"agentctl/protocol"
	"agentctl/server/eventlog"
	"agentctl/server/history"
	"agentctl/server/session"
	"agentctl/server/sqlite"
)

// A logBuilder builds the log of a session: turns of 99 events with 4 KiB of text, and their folds.
type logBuilder struct {
	session string
	seq     uint64
	batch   *eventlog.Batch
	run     protocol.DeltaRun
}

func (l *logBuilder) add(turn string, typ protocol.Type, data any) {
	l.seq++
	e := &protocol.Event{
		Session: l.session, Seq: l.seq, Turn: turn, Time: noon, Type: typ,
		Data: protocol.MustEncode(data),
	}
	l.batch.Events = append(l.batch.Events, append(e.AppendJSON(nil), '\n'))
	if d, ok := e.Delta(); ok && l.run.Add(e, d) {
		return
	}
	l.flushFold()
}

func (l *logBuilder) flushFold() {
	if l.run.Len() > 1 {
		e := l.run.Event()
		l.batch.Folds = append(l.batch.Folds,
			eventlog.Fold{First: e.First(), Last: e.Seq, Line: append(e.AppendJSON(nil), '\n')})
	}
	l.run.Reset()
}

func (l *logBuilder) addTurn(n int) *eventlog.Batch {
	l.batch = &eventlog.Batch{Session: l.session, First: l.seq + 1}
	id := fmt.Sprint("t", n)
	l.add(id, protocol.MessageUser,
		protocol.MessageUserData{Message: protocol.Message{MessageID: "m", Text: fmt.Sprint("question ", n)}})
	l.add(id, protocol.TurnStarted, protocol.TurnStartedData{MessageID: "m"})
	for range 15 {
		l.add(id, protocol.ReasoningDelta, protocol.PartDeltaData{Part: "r", Text: "let me look into that "})
	}
	for i := range 2 {
		tool := fmt.Sprint("x", i)
		l.add(id, protocol.ToolStarted,
			protocol.ToolStartedData{Tool: tool, Name: "shell", Input: json.RawMessage(`{"command":"go test ./..."}`)})
		for range 8 {
			l.add(id, protocol.ToolOutput, protocol.ToolOutputData{
				Tool: tool,
				Text: "ok  agentctl/server/session 1.234s, and some more of what a command prints\n",
			})
		}
		l.add(id, protocol.ToolEnded, protocol.ToolEndedData{Tool: tool, Status: protocol.ToolCompleted})
	}
	for range 61 {
		l.add(id, protocol.TextDelta, protocol.PartDeltaData{Part: "p", Text: "some words of an answer "})
	}
	l.add(id, protocol.TurnEnded, protocol.TurnEndedData{Reason: protocol.ReasonCompleted})
	l.flushFold()
	l.batch.Last = l.seq
	l.batch.Turns = []eventlog.TurnRow{{Turn: id, First: l.batch.First, Last: l.seq, Reason: "completed", Ended: noon}}
	return l.batch
}

func TestALogOfAnyAgeIsSearched(t *testing.T) {
	dir := t.TempDir()
	withStore(t, dir, sqlite.Options{}, func(s *sqlite.Store) {
		commit(t, s, create("a"))
		l := logBuilder{session: "a"}
		for n := range 100 {
			commit(t, s, l.addTurn(n))
		}
	})
	for range 2 { // a search does not change later results
		s, err := sqlite.Open(dir, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		hub, err := session.NewHub(context.Background(), session.Config{Store: s})
		if err != nil {
			t.Fatal(err)
		}
		reader := history.NewReader(s, hub.Sessions(), nil)
		for query, want := range map[string]int{
			"question": 100, `"question 7"`: 11, "question 99": 1, "QUESTION 99": 0, "look into": 100,
			"commands prints": 0, "command prints": 200, "./...": 200,
		} {
			found := 0
			for d := (protocol.SearchData{Query: query, Limit: 30}); ; {
				res := ask(t, reader, d)
				found += len(res.Hits)
				if d.Cursor = res.Cursor; d.Cursor == "" {
					break
				}
			}
			if found != want {
				t.Errorf("%s: %d hits, want %d", query, found, want)
			}
		}
		reader.Close()
		if err := hub.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// BenchmarkSearch searches for a word without matches, which scans everything, and for a word in
// every turn.
func BenchmarkSearch(b *testing.B) {
	s := open(b, b.TempDir(), sqlite.Options{})
	commit(b, s, create("a"))
	l := logBuilder{session: "a"}
	for n := range 1000 {
		commit(b, s, l.addTurn(n))
	}
	hub, err := session.NewHub(context.Background(), session.Config{Store: s})
	if err != nil {
		b.Fatal(err)
	}
	reader := history.NewReader(s, hub.Sessions(), nil)
	b.Cleanup(func() {
		reader.Close()
		if err := hub.Close(context.Background()); err != nil {
			b.Error(err)
		}
	})
	for name, query := range map[string]string{"nowhere": "needle", "everywhere": "answer"} {
		b.Run(name, func(b *testing.B) {
			calls := 0
			for b.Loop() {
				for d := (protocol.SearchData{Query: query}); ; {
					calls++
					res := ask(b, reader, d)
					if d.Cursor = res.Cursor; d.Cursor == "" || len(res.Hits) > 0 {
						break
					}
				}
			}
			b.ReportMetric(float64(l.seq), "events")
			b.ReportMetric(float64(calls)/float64(b.N), "calls/op")
		})
	}
}

// BenchmarkSearchOfManySessions searches a thousand sessions of one turn each.
func BenchmarkSearchOfManySessions(b *testing.B) {
	s := open(b, b.TempDir(), sqlite.Options{})
	for i := range 1000 {
		l := logBuilder{session: fmt.Sprint("s", i)}
		commit(b, s, create(l.session), l.addTurn(i))
	}
	hub, err := session.NewHub(context.Background(), session.Config{Store: s})
	if err != nil {
		b.Fatal(err)
	}
	reader := history.NewReader(s, hub.Sessions(), nil)
	b.Cleanup(func() {
		reader.Close()
		if err := hub.Close(context.Background()); err != nil {
			b.Error(err)
		}
	})
	for b.Loop() {
		for d := (protocol.SearchData{Query: "needle"}); ; {
			if d.Cursor = askIn(b, reader, "", d).Cursor; d.Cursor == "" {
				break
			}
		}
	}
}

func ask(b testing.TB, r *history.Reader, d protocol.SearchData) protocol.SearchResult {
	b.Helper()
	return askIn(b, r, "a", d)
}

func askIn(b testing.TB, r *history.Reader, id string, d protocol.SearchData) (res protocol.SearchResult) {
	b.Helper()
	c := protocol.Command{Command: protocol.DoSearch, Session: id, Data: protocol.MustEncode(d)}
	answer := make(chan error, 1)
	r.Do(context.Background(), &c, func(body json.RawMessage, err error) {
		if err == nil {
			err = json.Unmarshal(body, &res)
		}
		answer <- err
	})
	if err := <-answer; err != nil {
		b.Fatal(err)
	}
	return res
}
