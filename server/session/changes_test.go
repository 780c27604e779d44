package session

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"

	"agentctl/protocol"
)

func TestChangesListsWhatDiffersFromTheLastCommit(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		dir := t.TempDir()
		if err := exec.CommandContext(t.Context(), "git", "init", "-q", dir).Run(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "new.go"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		ask := func(dir string) protocol.ChangesResult {
			t.Helper()
			made := must[protocol.CreateResult](r, r.do(anna, newCommand(protocol.DoCreate, "", protocol.CreateData{CWD: dir})))
			first := r.do(anna, newCommand(protocol.DoChanges, made.Session, protocol.Empty{}))
			second := r.do(anna, newCommand(protocol.DoChanges, made.Session, protocol.Empty{}))
			result := must[protocol.ChangesResult](r, first)
			if other := must[protocol.ChangesResult](r, second); !reflect.DeepEqual(result, other) {
				t.Errorf("got %+v and %+v", result, other)
			}
			return result
		}
		want := protocol.ChangesResult{Repository: true, Files: []protocol.DirectoryFile{{Path: "new.go", Status: "?"}}}
		if got := ask(dir); !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
		if got := ask(t.TempDir()); got.Repository || len(got.Files) > 0 {
			t.Errorf("outside of a repository: got %+v", got)
		}
	})
}

func TestDiffShowsOneFile(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		dir := t.TempDir()
		if err := exec.CommandContext(t.Context(), "git", "init", "-q", dir).Run(); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"new.go", "other"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(name+"\xff\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		made := must[protocol.CreateResult](r, r.do(anna, newCommand(protocol.DoCreate, "", protocol.CreateData{CWD: dir})))
		diff := func(path string) *testCall {
			return r.do(anna, newCommand(protocol.DoDiff, made.Session, protocol.DiffData{Path: path}))
		}
		want := protocol.DiffResult{Patch: "--- /dev/null\n+++ b/new.go\n@@ -0,0 +1,1 @@\n+new.go\ufffd\n"}
		if got := must[protocol.DiffResult](r, diff("new.go")); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
		if got := must[protocol.DiffResult](r, diff("none")); got != (protocol.DiffResult{}) {
			t.Errorf("of no file: got %+v", got)
		}
		for _, path := range []string{"", "../other", filepath.Join(dir, "other")} {
			refused(r, diff(path), protocol.CodeInvalidMessage)
		}
	})
}
