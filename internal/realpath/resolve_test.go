package realpath

import (
	"os"
	"path/filepath"
	"testing"
)

func TestResolve(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "a/b"), 0o700); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"link": "a/b", "nowhere": "x", "loop": "loop", "up": ".."} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string][2]string{
		"":                  {".", "."},
		"a/b":               {"a/b", "a/b"},
		"a//b/./":           {"a/b", "a/b"},
		"link":              {"a/b", "a/b"},
		"link/c/d":          {"a/b/c/d", "a/b"},
		"link/..":           {"a", "a"},
		"link/../x":         {"a/x", "a"},
		"link/../../link":   {"a/b", "a/b"},
		"link/./../x":       {"a/x", "a"},
		"x/../a":            {"a", "a"},
		"x/../link/..":      {"a", "a"},
		"up/" + base(dir):   {".", "."},
		"a/../link/../b/..": {"a", "a"},
	} {
		real, existing, err := Resolve(dir + "/" + path)
		if err != nil || real != filepath.Join(dir, want[0]) || existing != filepath.Join(dir, want[1]) {
			t.Errorf("%s: %s, %s, %v, want %s", path, real, existing, err, want)
		}
	}
	if real, _, err := Resolve("/../../.."); err != nil || real != "/" {
		t.Errorf("above the root: %s, %v", real, err)
	}
	for _, path := range []string{"a", dir + "/nowhere", dir + "/nowhere/x", dir + "/loop/..", dir + "/nowhere/../a"} {
		if real, _, err := Resolve(path); err == nil {
			t.Errorf("%s: %s", path, real)
		}
	}
}

func base(dir string) string { return filepath.Base(dir) }
