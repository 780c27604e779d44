package attach

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"agentctl/tui/sessionlist"
)

func TestReadStateIsKeptInThePrivateStateDirectory(t *testing.T) {
	dir := t.TempDir()
	env := func(name string) string { return map[string]string{"XDG_STATE_HOME": dir}[name] }
	r := newReadState(env)
	if read, err := r.Load(); err != nil || len(read.Sessions) != 0 {
		t.Fatalf("without a file: %+v, %v", read, err)
	}
	since := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	marks := func(turns int, ids ...string) sessionlist.Read {
		read := sessionlist.Read{Since: since, Sessions: map[string]sessionlist.Mark{}}
		for _, id := range ids {
			read.Sessions[id] = sessionlist.Mark{Turns: turns}
		}
		return read
	}
	for _, read := range []sessionlist.Read{marks(3, "a", "b"), marks(2, "b", "c")} { // two screens
		if err := r.Save(read); err != nil {
			t.Fatal(err)
		}
	}
	got, err := r.Load()
	if err != nil || !got.Since.Equal(since) || len(got.Sessions) != 3 || got.Sessions["a"].Turns != 3 ||
		got.Sessions["b"].Turns != 3 || got.Sessions["c"].Turns != 2 {
		t.Errorf("after two screens: %+v, %v", got, err)
	}
	path := filepath.Join(dir, "agentctl", "read.json")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info, err)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Load(); err == nil {
		t.Error("a damaged file is read")
	}
	if err := r.Save(marks(1, "a")); err != nil {
		t.Errorf("save over a damaged file: %v", err)
	}
	if got, err := r.Load(); err != nil || len(got.Sessions) != 1 {
		t.Errorf("after that: %+v, %v", got, err)
	}
}
