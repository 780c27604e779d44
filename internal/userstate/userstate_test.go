package userstate

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestTheDirectoryFollowsSystemAndEnvironment(t *testing.T) {
	if !filepath.IsAbs("/") {
		t.Skip("the paths are Unix paths")
	}
	for _, c := range []struct {
		goos   string
		env    map[string]string
		want   string
		former []string
	}{
		{"linux", map[string]string{"XDG_STATE_HOME": "/state", "HOME": "/home/ada"}, "/state/agentctl", nil},
		{"linux", map[string]string{"XDG_STATE_HOME": "relative", "HOME": "/home/ada"}, "/home/ada/.local/state/agentctl", nil},
		{"linux", map[string]string{"HOME": "/home/ada"}, "/home/ada/.local/state/agentctl", nil},
		{"linux", map[string]string{"HOME": "relative"}, "", nil},
		{"linux", nil, "", nil},
		{"darwin", map[string]string{"XDG_STATE_HOME": "/state", "HOME": "/Users/ada"}, "/state/agentctl", nil},
		{
			"darwin",
			map[string]string{"HOME": "/Users/ada"},
			"/Users/ada/.local/state/agentctl",
			[]string{"/Users/ada/Library/Application Support/agentctl"},
		},
		{"darwin", nil, "", nil},
		{"windows", map[string]string{"XDG_STATE_HOME": "/state", "LocalAppData": "/local"}, "/state/agentctl", nil},
		{
			"windows",
			map[string]string{"LocalAppData": "/local"},
			"/local/agentctl",
			[]string{"/local/.local/state/agentctl"},
		},
		{
			"windows",
			map[string]string{"LocalAppData": "/local", "HOME": "/ada"},
			"/local/agentctl",
			[]string{"/local/.local/state/agentctl", "/ada/.local/state/agentctl"},
		},
		{"windows", map[string]string{"HOME": "/ada"}, "", nil},
		{"windows", nil, "", nil},
	} {
		got := find(c.goos, func(name string) string { return c.env[name] })
		if got.path != c.want || !slices.Equal(got.former, c.former) {
			t.Errorf("%s %v: got %+v, want %q %q", c.goos, c.env, got, c.want, c.former)
		}
	}
}

func TestAFileIsSavedLoadedAndRemoved(t *testing.T) {
	root := filepath.Join(t.TempDir(), "state")
	f := At(root).Sub("below").File("file.json", 100)
	var got string
	if err := f.Load(&got); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
	if err := f.Save("text"); err != nil {
		t.Fatal(err)
	}
	if err := f.Load(&got); err != nil || got != "text" {
		t.Errorf("got %q, %v", got, err)
	}
	if err := f.Save(strings.Repeat("x", 100)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a large value: %v", err)
	}
	if err := At(root).Sub("below").File("file.json", 3).Load(&got); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a large file: %v", err)
	}
	if err := errors.Join(f.Remove(), f.Remove()); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(f.Path(), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Load(&got); err == nil || !strings.Contains(err.Error(), f.Path()) {
		t.Errorf("a damaged file: %v", err)
	}
}

func TestAFileAtItsFormerPlaceCountsUntilOneIsSaved(t *testing.T) {
	former := t.TempDir()
	if err := At(former).Sub("below").File("file.json", 100).Save("former"); err != nil {
		t.Fatal(err)
	}
	f := Dir{filepath.Join(t.TempDir(), "state"), []string{former}}.Sub("below").File("file.json", 100)
	var got string
	if err := f.Load(&got); err != nil || got != "former" {
		t.Errorf("got %q, %v, want the former file", got, err)
	}
	if err := f.Save("new"); err != nil {
		t.Fatal(err)
	}
	if err := f.Load(&got); err != nil || got != "new" {
		t.Errorf("got %q, %v, want the new file", got, err)
	}
	if err := f.Remove(); err != nil {
		t.Fatal(err)
	}
	if err := f.Load(&got); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a removed file is back: %q, %v", got, err)
	}
}

func TestWithoutADirectoryNothingIsKept(t *testing.T) {
	f := At("").Sub("below").File("file.json", 100)
	if err := errors.Join(f.Save("text"), f.Remove()); err != nil {
		t.Error(err)
	}
	var got string
	if err := f.Load(&got); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %q, %v", got, err)
	}
}
