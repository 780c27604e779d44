package drafts

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"agentctl/internal/attachment"
	_ "agentctl/internal/dev/golden" // the flag -update
	"agentctl/internal/userstate"
)

// mustClose closes a store.
func mustClose(t *testing.T, s *Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestADraftIsKeptForItsServerAndSessionUntilItIsEmpty(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "drafts")
	path := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(path, []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := attachment.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	want := Draft{Text: "half a\nmessage", Shell: true, Files: []attachment.File{file}}

	s := Open(userstate.At(dir), "server")
	s.Save("s1", Draft{Text: "first"})
	s.Save("s1", want)
	if got := s.Load("s1"); !got.Equal(want) {
		t.Errorf("before the write: got %+v", got)
	}
	mustClose(t, s)

	for _, other := range []struct{ server, session string }{{"server", "s2"}, {"server2", "s1"}} {
		s := Open(userstate.At(dir), other.server)
		if got := s.Load(other.session); !got.Empty() {
			t.Errorf("%v has the draft %+v", other, got)
		}
		mustClose(t, s)
	}

	s = Open(userstate.At(dir), "server")
	got := s.Load("s1")
	if !got.Equal(want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	parts, err := attachment.Parts(got.Text, got.Files, false)
	if err != nil || len(parts) != 1 || parts[0].Text != "content" {
		t.Errorf("the file has the parts %+v, %v", parts, err)
	}
	s.Save("s1", Draft{})
	mustClose(t, s)
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("the directory has %v, %v", left, err)
	}
}

func TestTheFilesOfDraftsArePrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no permission bits")
	}
	dir := filepath.Join(t.TempDir(), "drafts")
	s := Open(userstate.At(dir), "server")
	s.Save("s1", Draft{Text: "secret"})
	mustClose(t, s)
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	for path, want := range map[string]os.FileMode{dir: 0o700, files[0]: 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v (%v)", path, info.Mode().Perm(), want, err)
		}
	}
}

func TestTheOldestDraftsAreRemoved(t *testing.T) {
	dir := t.TempDir()
	s := Open(userstate.At(dir), "server")
	for i := range maxFiles + 5 {
		s.Save(fmt.Sprint("s", i), Draft{Text: "text"})
	}
	mustClose(t, s)
	if left, err := os.ReadDir(dir); err != nil || len(left) != maxFiles {
		t.Errorf("%d files are left, want %d (%v)", len(left), maxFiles, err)
	}
}

func TestADraftThatCannotBeWrittenIsAnErrorOfClose(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := Open(userstate.At(filepath.Join(file, "drafts")), "server")
	s.Save("s1", Draft{Text: "text"})
	if err := s.Close(); err == nil || !strings.Contains(err.Error(), "save unsent messages") {
		t.Errorf("got error %v", err)
	}

	s = Open(userstate.At(t.TempDir()), "server")
	s.Save("s1", Draft{Text: strings.Repeat("x", maxFileBytes)})
	if err := s.Close(); err == nil || !strings.Contains(err.Error(), "larger than 8 MiB") {
		t.Errorf("got error %v", err)
	}
}

func TestADamagedFileIsNoDraft(t *testing.T) {
	d := directory{userstate.At(t.TempDir()), "server"}
	if err := os.WriteFile(d.file("s1").Path(), []byte(`{"server":"server","session":"s1","text":`), 0o600); err != nil {
		t.Fatal(err)
	}
	s := Open(d.dir, d.server)
	defer mustClose(t, s)
	if got := s.Load("s1"); !got.Empty() {
		t.Errorf("got %+v", got)
	}
}

func TestWithoutADirectoryDraftsStayInMemory(t *testing.T) {
	s := Open(userstate.Dir{}, "")
	s.Save("s1", Draft{Text: "text"})
	if got := s.Load("s1"); got.Text != "text" {
		t.Errorf("got %+v", got)
	}
	s.Save("s1", Draft{})
	if got := s.Load("s1"); !got.Empty() {
		t.Errorf("got %+v after it was cleared", got)
	}
	mustClose(t, s)
	var none *Store
	none.Save("s1", Draft{Text: "text"})
	if got := none.Load("s1"); !got.Empty() {
		t.Errorf("a nil store has %+v", got)
	}
}
