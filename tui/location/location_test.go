package location

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "agentctl/internal/dev/golden" // the flag -update
	"agentctl/protocol"
)

// directory returns a directory with files, beside a directory "outside" with a file.
func directory(t *testing.T) string {
	t.Helper()
	base := t.TempDir()
	dir := filepath.Join(base, "project")
	for _, name := range []string{
		"project/main.go", "project/pkg/store/store.go", "project/Makefile", "project/a b.py", "outside/secret.txt",
	} {
		file := filepath.Join(base, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("x\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(base, "outside"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestFind(t *testing.T) {
	dir := directory(t)
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "all is well. Or is it?", nil},
		{"compiler", "pkg/store/store.go:42:7: undefined: x\n./main.go:3: y", []string{
			"pkg/store/store.go:42:7", "main.go:3",
		}},
		{"prose", "I changed `main.go`, (pkg/store/store.go) and the Makefile too", []string{
			"main.go", "pkg/store/store.go",
		}},
		{"full stop", "See main.go.", []string{"main.go"}},
		{"without a point", "Makefile:7: *** missing separator", []string{"Makefile:7"}},
		{"absolute", dir + "/main.go:9", []string{"main.go:9"}},
		{"patch", "--- a/main.go\n+++ b/main.go\n", []string{"main.go"}},
		{"Python", `  File "a b.py", line 12, in main`, []string{"a b.py:12"}},
		{"each once", "main.go:1 main.go:2 main.go:1", []string{"main.go:1", "main.go:2"}},
		{"missing", "missing.go:1", nil},
		{"directory", "pkg/store", nil},
		{"above", "../outside/secret.txt:1 " + filepath.Dir(dir) + "/outside/secret.txt /etc/passwd", nil},
		{"through a link", "link/secret.txt:1", nil},
		{"through a path", "pkg/../main.go", []string{"main.go"}},
		{"long line", "main.go:12345678901", []string{"main.go"}},
	} {
		places, err := Find(t.Context(), dir, c.text, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range places {
			got = append(got, p.String())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestFindTakesNamedPlacesFirst(t *testing.T) {
	dir := directory(t)
	named := []protocol.Location{{Path: dir + "/Makefile", Line: 2}, {Path: "/x"}}
	places, err := Find(t.Context(), dir, "main.go:3", named)
	if err != nil || len(places) != 2 || places[0] != (Place{"Makefile", 2, 0}) {
		t.Errorf("got %v, error %v", places, err)
	}
}

func TestFindIsBounded(t *testing.T) {
	dir := directory(t)
	places, err := Find(t.Context(), dir, strings.Repeat("x.go:1 ", 1<<20)+" main.go", nil)
	if err != nil || len(places) > 0 {
		t.Errorf("got %v, error %v, want nothing beyond the bound", places, err)
	}
	var text strings.Builder
	for i := range 1000 {
		text.WriteString("main.go:" + strings.Repeat("1", 1+i%9) + ":" + strings.Repeat("2", 1+i/9%9) + " ")
	}
	if places, err = Find(t.Context(), dir, text.String(), nil); err != nil || len(places) > maxPlaces {
		t.Errorf("got %d places, error %v", len(places), err)
	}
	if _, err := Find(t.Context(), filepath.Join(dir, "missing"), "main.go", nil); err == nil {
		t.Error("a missing directory gives no error")
	}
}

func FuzzFind(f *testing.F) {
	f.Add("main.go:3:4 a/main.go /main.go ../x \x00 \xff:1")
	f.Add(`File "main.go", line 99999999999`)
	dir := f.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), nil, 0o644); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		places, err := Find(t.Context(), dir, text, []protocol.Location{{Path: text, Line: len(text)}})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range places {
			if p.Path != "main.go" || p.Line < 0 || p.Column < 0 {
				t.Errorf("%q names %v", text, p)
			}
		}
	})
}

func TestEditorArguments(t *testing.T) {
	for _, c := range []struct {
		command      string
		line, column int
		want         string
	}{
		{"vim", 12, 3, "+12 /f"},
		{"/usr/bin/nvim -u NONE", 12, 0, "+12 /f"},
		{"env TERM=xterm vi", 12, 0, "+12 /f"},
		{"nano", 12, 3, "+12,3 /f"},
		{"emacsclient -t", 12, 3, "+12:3 /f"},
		{"emacs -nw", 12, 0, "+12 /f"},
		{"kak", 12, 3, "+12:3 /f"},
		{"code --wait", 12, 3, "--goto /f:12:3"},
		{`"C:\bin\code.exe" --wait`, 12, 0, "--goto /f:12"},
		{"hx", 12, 3, "/f:12:3"},
		{"ed", 12, 3, "/f"},
		{"vim", 0, 0, "/f"},
		{"", 12, 0, "/f"},
	} {
		if got := strings.Join(EditorArguments(c.command, "/f", c.line, c.column), " "); got != c.want {
			t.Errorf("%s: got %q, want %q", c.command, got, c.want)
		}
	}
}
