package tool

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestNoToolOpensAFileOfTheServer(t *testing.T) {
	r := newRig(t, map[string]string{"data/db": "needle\n", "config.json": "needle\n"})
	r.Toolbox.dir.own = []string{filepath.Join(r.dir, "data"), filepath.Join(r.dir, "config.json")}
	r.link("data/db", "link")
	for _, path := range []string{"data/db", "link", filepath.Join(r.dir, "data", "db")} {
		_, _, err := r.run(t.Context(), "read", args{"path": path})
		if err == nil || !strings.Contains(err.Error(), "server") {
			t.Errorf("read %s: %v", path, err)
		}
	}
	for _, path := range []string{".", "data", "data/db"} {
		_, result, err := r.run(t.Context(), "grep", args{"pattern": "needle", "path": path})
		found := strings.Contains(result.Text, "config.json:1:needle")
		if err != nil || strings.Contains(result.Text, "db:") || found != (path == ".") {
			t.Errorf("grep in %s: %q, %v", path, result.Text, err)
		}
	}
	for name, a := range map[string]args{
		"write":       {"path": "data/db", "content": "x"},
		"edit":        {"path": "data/db", "old_string": "needle", "new_string": "x"},
		"apply_patch": {"patch": "*** Begin Patch\n*** Delete File: data/db\n*** End Patch"},
	} {
		if _, _, err := r.run(t.Context(), name, a); err == nil {
			t.Errorf("%s changed a file of the server", name)
		}
	}
}
