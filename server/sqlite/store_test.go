package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"agentctl/server/agent"
	"agentctl/server/eventlog"
	"agentctl/server/session"
	"agentctl/server/sqlite"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 7, time.UTC)

// open opens a store. The test closes it.
func open(t testing.TB, dir string, opts sqlite.Options) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// withStore opens the store in dir, calls do and closes it.
func withStore(t testing.TB, dir string, opts sqlite.Options, do func(*sqlite.Store)) {
	t.Helper()
	s, err := sqlite.Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	do(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func commit(t testing.TB, s session.Store, batches ...*eventlog.Batch) {
	t.Helper()
	if err := s.Commit(batches); err != nil {
		t.Fatal(err)
	}
}

func create(id string) *eventlog.Batch {
	return &eventlog.Batch{Session: id, Create: &eventlog.Record{Epoch: "e-" + id, Created: noon, Spec: []byte("spec")}}
}

// lines returns one event line per seq.
func lines(first, last uint64) []byte {
	var b bytes.Buffer
	for seq := first; seq <= last; seq++ {
		fmt.Fprintf(&b, `{"seq":%d}`+"\n", seq)
	}
	return b.Bytes()
}

func events(id string, first, last uint64) *eventlog.Batch {
	return &eventlog.Batch{Session: id, Events: [][]byte{lines(first, last)}, First: first, Last: last}
}

// sessions returns the records of a store in separate memory.
func sessions(ctx context.Context, s session.Store) (all []eventlog.Record, err error) {
	for r, err := range s.Sessions(ctx) {
		if err != nil {
			return nil, err
		}
		r.Spec, r.Summary = bytes.Clone(r.Spec), bytes.Clone(r.Summary)
		all = append(all, r)
	}
	return all, nil
}

func read(t testing.TB, s session.Store, id string, after, through uint64) []byte {
	t.Helper()
	got, _, err := s.Read(context.Background(), id, after, through, false, 1<<30, nil)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestEverythingCommittedIsThereAfterReopening(t *testing.T) {
	dir := t.TempDir()
	live := true
	full := &eventlog.Batch{
		Session: "a",
		Events:  [][]byte{lines(1, 3)}, First: 1, Last: 3,
		Folds:    []eventlog.Fold{{First: 1, Last: 2, Line: []byte("folded\n")}},
		Snapshot: []byte("snapshot"), SnapSeq: 3,
		Summary: []byte("summary"), Live: &live, Spec: []byte("new spec"),
		Turns: []eventlog.TurnRow{{
			Turn: "t1", MessageID: "m1", First: 1, Last: 3, Reason: "completed",
			Ended: noon,
		}},
		Answers:       []eventlog.Answer{{Key: "k", Hash: []byte{1}, Body: []byte("body"), At: noon}},
		Decisions:     []eventlog.Decision{{Request: "r", Data: []byte("decided")}},
		Blobs:         []eventlog.Blob{{ID: "b", MediaType: "text/plain", Data: []byte("blob")}},
		ProcessGroups: []agent.ProcessGroup{{PID: 42, Start: "then"}},
	}
	withStore(t, dir, sqlite.Options{}, func(s *sqlite.Store) { commit(t, s, create("a"), full) })

	ctx := context.Background()
	s := open(t, dir, sqlite.Options{})
	want := eventlog.Record{
		ID: "a", Epoch: "e-a", Created: noon, Spec: []byte("new spec"), Summary: []byte("summary"),
		SnapSeq: 3, Head: 3, Live: true,
	}
	check(t, []eventlog.Record{want})(sessions(ctx, s))
	want.Snapshot = []byte("snapshot")
	check(t, want)(s.Session(ctx, "a"))
	check(t, full.Turns)(s.Turns(ctx, "a", 0, 10))
	check(t, eventlog.Answer{Key: "k", Session: "a", Hash: []byte{1}, Body: []byte("body"), At: noon})(s.Answer(ctx,
		"k"))
	check(t, []byte("decided"))(s.Decision(ctx, "a", "r"))
	check(t, full.Blobs[0])(s.Blob(ctx, "a", "b"))
	check(t, []agent.ProcessGroup{{Session: "a", PID: 42, Start: "then"}})(s.ProcessGroups(ctx))
	if got := read(t, s, "a", 0, 3); !bytes.Equal(got, bytes.Join(full.Events, nil)) {
		t.Errorf("events: %s", got)
	}
}

// check compares the result of a method with want.
func check[T any](t testing.TB, want T) func(T, error) {
	t.Helper()
	return func(got T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

func TestMissingRowsAreNotFound(t *testing.T) {
	ctx := context.Background()
	s := open(t, t.TempDir(), sqlite.Options{})
	commit(t, s, create("a"))
	for name, call := range map[string]func() error{
		"session":             func() error { _, err := s.Session(ctx, "b"); return err },
		"events of a session": func() error { _, _, err := s.Read(ctx, "b", 0, 1, false, 1, nil); return err },
		"fold of a session":   func() error { _, err := s.FoldStart(ctx, "b", 1); return err },
		"turns of a session":  func() error { _, err := s.Turns(ctx, "b", 0, 1); return err },
		"answer":              func() error { _, err := s.Answer(ctx, "k"); return err },
		"decision":            func() error { _, err := s.Decision(ctx, "a", "r"); return err },
		"blob":                func() error { _, err := s.Blob(ctx, "a", "b"); return err },
		"commit to a session": func() error { return s.Commit([]*eventlog.Batch{events("b", 1, 1)}) },
	} {
		if err := call(); !errors.Is(err, eventlog.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestARefusedBatchRefusesItsCommitAndNothingElse(t *testing.T) {
	for name, bad := range map[string]*eventlog.Batch{
		"a gap":                   events("a", 5, 6),
		"a repeat":                events("a", 3, 4),
		"fewer lines than seqs":   {Session: "a", Events: [][]byte{lines(4, 5)}, First: 4, Last: 6},
		"more lines than seqs":    {Session: "a", Events: [][]byte{lines(4, 6)}, First: 4, Last: 5},
		"an unfinished line":      {Session: "a", Events: [][]byte{[]byte("{}")}, First: 4, Last: 4},
		"a fold past the end":     {Session: "a", Folds: []eventlog.Fold{{First: 3, Last: 4, Line: []byte("f\n")}}},
		"a fold from nothing":     {Session: "a", Folds: []eventlog.Fold{{First: 0, Last: 2, Line: []byte("f\n")}}},
		"a snapshot past the end": {Session: "a", Snapshot: []byte("x"), SnapSeq: 4},
		"a session there already": create("a"),
		"a session not there":     {Session: "b", Summary: []byte("s")},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, t.TempDir(), sqlite.Options{})
			commit(t, s, create("a"), events("a", 1, 3))
			if err := s.Commit([]*eventlog.Batch{create("c"), bad}); err == nil ||
				errors.Is(err, eventlog.ErrStoreFailed) {
				t.Fatalf("commit: %v", err)
			}
			if _, err := s.Session(context.Background(), "c"); !errors.Is(err, eventlog.ErrNotFound) {
				t.Errorf("the preceding batch was kept: %v", err)
			}
			commit(t, s, events("a", 4, 4))
			if got := read(t, s, "a", 0, 9); !bytes.Equal(got, lines(1, 4)) {
				t.Errorf("events: %s", got)
			}
		})
	}
}

func TestZeroFieldsOfABatchChangeNothing(t *testing.T) {
	ctx := context.Background()
	s := open(t, t.TempDir(), sqlite.Options{})
	live := true
	commit(t, s, create("a"), events("a", 1, 1), &eventlog.Batch{
		Session: "a", Summary: []byte("s"), Live: &live, Snapshot: []byte("x"), SnapSeq: 1,
	})
	before, err := s.Session(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	commit(t, s, &eventlog.Batch{Session: "a"})
	check(t, before)(s.Session(ctx, "a"))
}

func TestASnapshotMayPrecedeTheFirstEvent(t *testing.T) {
	s := open(t, t.TempDir(), sqlite.Options{})
	b := create("a")
	b.Snapshot = []byte("empty")
	commit(t, s, b)
	want := *b.Create
	want.ID, want.Snapshot = "a", b.Snapshot
	check(t, want)(s.Session(context.Background(), "a"))
}

func TestACreatedSessionTakesNoHeadSnapshotOrSummaryFromItsRecord(t *testing.T) {
	s := open(t, t.TempDir(), sqlite.Options{})
	commit(t, s, &eventlog.Batch{Session: "a", Create: &eventlog.Record{
		Epoch: "e", Created: noon, Head: 9, Snapshot: []byte("x"), SnapSeq: 9, Summary: []byte("y"), Live: true,
	}})
	check(t, eventlog.Record{ID: "a", Epoch: "e", Created: noon, Live: true})(s.Session(context.Background(), "a"))
}

func TestACreatedSessionIsWhatItsFirstBatchMakesOfIt(t *testing.T) {
	s := open(t, t.TempDir(), sqlite.Options{})
	live := true
	b := create("a")
	b.Summary, b.Spec, b.Live = []byte("summary"), []byte("another spec"), &live
	commit(t, s, b)
	rows, err := sessions(context.Background(), s)
	if err != nil || len(rows) != 1 || string(rows[0].Summary) != "summary" || !rows[0].Live {
		t.Errorf("rows %+v, %v", rows, err)
	}
	check(t, eventlog.Record{
		ID: "a", Epoch: "e-a", Created: noon, Spec: []byte("another spec"),
		Summary: []byte("summary"), Live: true,
	})(s.Session(context.Background(), "a"))
}

func TestSessionsComeInTheOrderOfTheirCreation(t *testing.T) {
	s := open(t, t.TempDir(), sqlite.Options{})
	for i, id := range []string{"b", "c", "d", "a"} {
		b := create(id)
		b.Create.Created = noon.Add(time.Duration(-i) * time.Hour)
		commit(t, s, b)
	}
	commit(t, s, &eventlog.Batch{Session: "d", Delete: true}, &eventlog.Batch{Session: "b", Summary: []byte("new")})
	records, err := sessions(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	var ids string
	for _, r := range records {
		ids += r.ID
	}
	if ids != "bca" {
		t.Errorf("order %s", ids)
	}
}

func TestTheFirstUnderAKeyStays(t *testing.T) {
	ctx := context.Background()
	s := open(t, t.TempDir(), sqlite.Options{})
	commit(t, s, create("a"), create("b"))
	for _, word := range []string{"first", "second"} {
		commit(t, s, &eventlog.Batch{
			Session:   "a",
			Answers:   []eventlog.Answer{{Key: "k", Body: []byte(word), At: noon}},
			Decisions: []eventlog.Decision{{Request: "r", Data: []byte(word)}},
			Blobs:     []eventlog.Blob{{ID: "x", Data: []byte(word)}},
		})
	}
	commit(t, s, &eventlog.Batch{Session: "b", Answers: []eventlog.Answer{{Key: "k", Body: []byte("other"), At: noon}}})
	check(t, eventlog.Answer{Key: "k", Session: "a", Body: []byte("first"), At: noon})(s.Answer(ctx, "k"))
	check(t, []byte("first"))(s.Decision(ctx, "a", "r"))
	check(t, eventlog.Blob{ID: "x", Data: []byte("first")})(s.Blob(ctx, "a", "x"))
}

func TestTurnsComeNewestFirstInPages(t *testing.T) {
	ctx := context.Background()
	s := open(t, t.TempDir(), sqlite.Options{})
	commit(t, s, create("a"), create("b"))
	var all []eventlog.TurnRow
	for i := range uint64(5) {
		row := eventlog.TurnRow{Turn: fmt.Sprint(i), First: i*10 + 1, Last: i*10 + 10, Reason: "completed", Ended: noon}
		all = append([]eventlog.TurnRow{row}, all...)
		commit(t, s, &eventlog.Batch{Session: "a", Turns: []eventlog.TurnRow{row}})
	}
	check(t, all[:2])(s.Turns(ctx, "a", 0, 2))
	check(t, all[2:4])(s.Turns(ctx, "a", all[1].First, 2))
	check(t, all[4:])(s.Turns(ctx, "a", all[3].First, 2))
	check(t, []eventlog.TurnRow(nil))(s.Turns(ctx, "a", 1, 2))
	check(t, []eventlog.TurnRow(nil))(s.Turns(ctx, "b", 0, 2))
}

func TestAnEndedGroupIsForgotten(t *testing.T) {
	ctx := context.Background()
	s := open(t, t.TempDir(), sqlite.Options{})
	one, two := agent.ProcessGroup{PID: 1, Start: "x"}, agent.ProcessGroup{PID: 1, Start: "y"}
	commit(t, s, create("a"), &eventlog.Batch{Session: "a", ProcessGroups: []agent.ProcessGroup{one, two, one}})
	one.Ended = true
	commit(t, s, &eventlog.Batch{Session: "a", ProcessGroups: []agent.ProcessGroup{one}})
	check(t, []agent.ProcessGroup{{Session: "a", PID: 1, Start: "y"}})(s.ProcessGroups(ctx))
}

func TestForgetDropsOldAnswersAlone(t *testing.T) {
	ctx := context.Background()
	s := open(t, t.TempDir(), sqlite.Options{})
	commit(t, s, create("a"))
	b := &eventlog.Batch{Session: "a"}
	for i := range 1300 { // needs several transactions
		b.Answers = append(b.Answers, eventlog.Answer{Key: fmt.Sprint("old", i), At: noon})
	}
	b.Answers = append(b.Answers, eventlog.Answer{Key: "new", At: noon.Add(time.Hour)})
	commit(t, s, b)
	if err := s.PruneAnswers(ctx, noon.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	for i := range 1300 {
		if _, err := s.Answer(ctx, fmt.Sprint("old", i)); !errors.Is(err, eventlog.ErrNotFound) {
			t.Fatalf("old answer %d: %v", i, err)
		}
	}
	check(t, eventlog.Answer{Key: "new", Session: "a", At: noon.Add(time.Hour)})(s.Answer(ctx, "new"))
}

func TestADeletedSessionLeavesNothingAndOthersUnchanged(t *testing.T) {
	ctx := context.Background()
	s := open(t, t.TempDir(), sqlite.Options{})
	everything := func(id string) *eventlog.Batch {
		return &eventlog.Batch{
			Session: id, Events: [][]byte{lines(1, 2)}, First: 1, Last: 2, Snapshot: []byte("x"), SnapSeq: 2,
			Folds:         []eventlog.Fold{{First: 1, Last: 2, Line: []byte("f\n")}},
			Turns:         []eventlog.TurnRow{{Turn: "t", First: 1, Last: 2}},
			Answers:       []eventlog.Answer{{Key: id, At: noon}},
			Decisions:     []eventlog.Decision{{Request: "r", Data: []byte("d")}},
			Blobs:         []eventlog.Blob{{ID: "b", Data: []byte("d")}},
			ProcessGroups: []agent.ProcessGroup{{PID: 1, Start: "x"}},
		}
	}
	for _, id := range []string{"a", "b", "c"} {
		commit(t, s, create(id), everything(id))
	}
	removal := eventlog.Answer{Key: "rm", Body: []byte("removed"), At: noon}
	commit(t, s, &eventlog.Batch{Session: "b", Delete: true, Answers: []eventlog.Answer{removal}},
		&eventlog.Batch{Session: "never", Delete: true})
	removal.Session = "b"
	check(t, removal)(s.Answer(ctx, "rm"))
	if _, err := s.Session(ctx, "b"); !errors.Is(err, eventlog.ErrNotFound) {
		t.Errorf("session: %v", err)
	}
	if _, err := s.Answer(ctx, "b"); !errors.Is(err, eventlog.ErrNotFound) {
		t.Errorf("answer: %v", err)
	}
	check(t, []agent.ProcessGroup{
		{Session: "a", PID: 1, Start: "x"},
		{Session: "c", PID: 1, Start: "x"},
	})(s.ProcessGroups(ctx))
	for _, id := range []string{"a", "c"} {
		check(t, []byte("d"))(s.Decision(ctx, id, "r"))
		check(t, eventlog.Blob{ID: "b", Data: []byte("d")})(s.Blob(ctx, id, "b"))
		if got := read(t, s, id, 0, 2); !bytes.Equal(got, lines(1, 2)) {
			t.Errorf("events of %s: %s", id, got)
		}
	}

	commit(t, s, create("b"))
	check(t, eventlog.Record{ID: "b", Epoch: "e-b", Created: noon, Spec: []byte("spec")})(s.Session(ctx, "b"))
	check(t, []eventlog.TurnRow(nil))(s.Turns(ctx, "b", 0, 9))
	if got := read(t, s, "b", 0, 9); len(got) != 0 {
		t.Errorf("events of the new session: %s", got)
	}
}

func TestARemovedSessionIsCollectedFromTheFileAlsoByTheNextRun(t *testing.T) {
	dir := t.TempDir()
	left := func() int {
		conn, err := sqlite3.OpenConn(filepath.Join(dir, dbFile), sqlite3.OpenReadOnly)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := conn.Close(); err != nil {
				t.Error(err)
			}
		}()
		n := 0
		err = sqlitex.Execute(conn, `SELECT (SELECT count(*) FROM chunk) + (SELECT count(*) FROM blob) +
			(SELECT count(*) FROM fold) + (SELECT count(*) FROM turn) + (SELECT count(*) FROM removed)`,
			&sqlitex.ExecOptions{ResultFunc: func(stmt *sqlite3.Stmt) error { n = stmt.ColumnInt(0); return nil }})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	withStore(t, dir, sqlite.Options{}, func(s *sqlite.Store) {
		for id, count := range map[string]uint64{"a": 1000, "b": 1000, "c": 5} {
			batches := []*eventlog.Batch{create(id)}
			for seq := uint64(1); seq <= count; seq++ {
				b := events(id, seq, seq)
				b.Blobs = []eventlog.Blob{{ID: fmt.Sprint(seq)}}
				b.Folds = []eventlog.Fold{{First: seq, Last: seq, Line: []byte("f\n")}}
				b.Turns = []eventlog.TurnRow{{First: seq, Last: seq}}
				batches = append(batches, b)
			}
			commit(t, s, batches...)
		}
		commit(t, s, &eventlog.Batch{Session: "a", Delete: true}, &eventlog.Batch{Session: "c", Delete: true})
	})
	s := open(t, dir, sqlite.Options{})
	waitFor(t, "remaining rows are deleted", func() bool { return left() == 4000 })
	if got := read(t, s, "b", 0, 1000); !bytes.Equal(got, lines(1, 1000)) {
		t.Error("events of another session differ")
	}
}

func TestACancelledReadReturnsItsContextsError(t *testing.T) {
	s := open(t, t.TempDir(), sqlite.Options{})
	commit(t, s, create("a"), events("a", 1, 1))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := s.Read(ctx, "a", 0, 1, false, 1, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("read: %v", err)
	}
}

func TestFilesAreTheOwnersAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "data")
	s := open(t, dir, sqlite.Options{})
	commit(t, s, create("a"))
	names, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(names, nil) {
		path, want := dir, os.FileMode(0o700)|os.ModeDir
		if name != nil {
			path, want = filepath.Join(dir, name.Name()), 0o600
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != want {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
	}
}
