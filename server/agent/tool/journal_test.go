package tool

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// record opens the tools again, with records of changes.
func (r *rig) record() {
	r.t.Helper()
	if err := r.Close(); err != nil {
		r.t.Fatal(err)
	}
	var err error
	r.Toolbox, err = Open(Options{
		CWD: r.dir, Env: os.Environ(), Host: r.host, Session: "s",
		Changes: filepath.Join(filepath.Dir(r.dir), "changes"),
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

// all returns all files by path, including files of the records.
func (r *rig) all() map[string]string {
	files := map[string]string{}
	root := filepath.Dir(r.dir)
	err := filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		files[path] = string(b)
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return files
}

// setAll replaces all files.
func (r *rig) setAll(files map[string]string) {
	r.t.Helper()
	for path := range r.all() {
		if err := os.Remove(path); err != nil {
			r.t.Fatal(err)
		}
	}
	for path, text := range files {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			r.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			r.t.Fatal(err)
		}
	}
}

// After a kill of the server before any step of a patch, the next start restores the files and
// leaves no others.
func TestAKillInAPatchIsTakenBack(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a/1": "1\n", "b/2": "2\n", "c/4": "4\n", "e/6": "6\n"}
	r := newRig(t, files)
	r.record()
	before := r.tree()
	set, _, err := r.plan(manyChanges)
	if err != nil {
		t.Fatal(err)
	}
	var images []map[string]string // of the disk, each at the moment of a kill
	var at []string
	r.files = faultyFiles(func(operation, name string) error {
		images, at = append(images, r.all()), append(at, operation+" "+name)
		return nil
	})
	if err := r.applyRecorded("t1", set); err != nil {
		t.Fatal(err)
	}
	after := r.tree()
	if len(images) < 12 || after == before {
		t.Fatalf("%d steps", len(images))
	}
	partly := 0
	for i, image := range images {
		r.setAll(image)
		if r.tree() != before {
			partly++
		}
		r.record()
		if got := r.tree(); got != before {
			t.Errorf("killed before %s: before:\n%safter:\n%s", at[i], before, got)
		}
		for path := range r.all() {
			if strings.Contains(path, temporaryPrefix) || strings.HasSuffix(path, pendingRecord) {
				t.Errorf("killed before %s: %s is left", at[i], path)
			}
		}
	}
	if partly == 0 {
		t.Error("no kill left a part of the patch")
	}
}

// A file that another program changed after the kill is left as it is.
func TestAKilledPatchOverwritesNoLaterChange(t *testing.T) {
	r := newRig(t, map[string]string{"a": "1\n", "b": "2\n"})
	r.record()
	set, _, err := r.plan(begin("*** Update File: a", "@@", "-1", "+x",
		"*** Update File: b", "@@", "-2", "+y"))
	if err != nil {
		t.Fatal(err)
	}
	var image map[string]string
	r.files = faultyFiles(func(operation, name string) error {
		if operation == "commit" && name == "b" {
			image = r.all()
		}
		return nil
	})
	if err := r.applyRecorded("t1", set); err != nil {
		t.Fatal(err)
	}
	image[filepath.Join(r.dir, "a")] = "by the user\n"
	r.setAll(image)
	lost := r.recover()
	if !slices.Equal(lost, []string{"a"}) || r.get("a") != "by the user\n" || r.get("b") != "2\n" {
		t.Errorf("%q, %q, %q", lost, r.get("a"), r.get("b"))
	}
}

func (r *rig) get(name string) string {
	b, _ := os.ReadFile(filepath.Join(r.dir, name))
	return string(b)
}

func (r *rig) patch(turn, text string) {
	r.t.Helper()
	set, _, err := r.plan(text)
	if err == nil {
		_, err = r.change(turn, set)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// Undo restores the files of a turn, also after a restart, except files that others have changed.
func TestUndoRestoresTheFilesOfATurn(t *testing.T) {
	t.Parallel()
	r := newRig(t, map[string]string{"a/1": "1\n", "b/2": "2\n", "c/4": "4\n", "e/6": "6\n", "f": "f\n"})
	r.record()
	r.patch("t1", begin("*** Update File: f", "@@", "-f", "+g"))
	before := r.tree()
	r.patch("t2", manyChanges)
	r.patch("t2", begin("*** Update File: f", "@@", "-g", "+h"))
	r.patch("t2", begin("*** Update File: f", "@@", "-h", "+i"))
	r.record()
	if err := os.WriteFile(filepath.Join(r.dir, "e/6"), []byte("by the user\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	restored, kept, err := r.Undo("t2")
	if err != nil || !slices.Equal(kept, []string{"e/6"}) ||
		!slices.Equal(restored, []string{"a/1", "b/2", "c/4", "d/5", "f", "new/dir/3"}) {
		t.Errorf("restored %q, kept %q, %v", restored, kept, err)
	}
	r.put("e/6", "6\n")
	if got := r.tree(); got != before {
		t.Errorf("before:\n%safter:\n%s", before, got)
	}
	if restored, kept, err := r.Undo("t2"); err != nil || restored != nil || kept != nil {
		t.Errorf("again: %q, %q, %v", restored, kept, err)
	}
}

func TestRecordsAreBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t, map[string]string{"f": "0\n"})
	r.record()
	for i := range maxRecords {
		r.put(fmt.Sprintf("../changes/s/%020d%s", i, completeRecord), "{}")
	}
	for i := range 3 {
		r.patch("t1", begin("*** Update File: f", "@@", fmt.Sprint("-", i), fmt.Sprint("+", i+1)))
	}
	if n := len(r.journal.names(completeRecord)); n != maxRecords {
		t.Errorf("%d records", n)
	}
}

// Undo restores a file where it was recorded. A link that leads elsewhere since then is not
// followed.
func TestUndoFollowsNoLinkThatWasMadeLater(t *testing.T) {
	for name, to := range map[string]string{"outside": "../elsewhere", "inside": "other"} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, map[string]string{"d/keys": "attacker\n", "other/x": "", "../elsewhere/x": ""})
			r.record()
			r.patch("t1", begin("*** Delete File: d/keys"))
			if err := os.RemoveAll(filepath.Join(r.dir, "d")); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(to, filepath.Join(r.dir, "d")); err != nil {
				t.Fatal(err)
			}
			restored, kept, err := r.Undo("t1")
			if err != nil || len(restored) != 0 || !slices.Equal(kept, []string{"d/keys"}) {
				t.Errorf("restored %v, kept %v, %v", restored, kept, err)
			}
			if _, err := os.Stat(filepath.Join(r.dir, "d", "keys")); err == nil {
				t.Error("the file was written through the link")
			}
		})
	}
}

// A record of a half-made change is dropped only if nothing was changed: not because it cannot be
// read now.
func TestARecordThatCannotBeReadIsKept(t *testing.T) {
	r := newRig(t, map[string]string{"f": "new\n"})
	r.record()
	write := func(name, text string) string {
		path := filepath.Join(r.journal.dir, name+pendingRecord)
		if err := os.MkdirAll(path, 0o700); text == "" && err != nil { // a directory cannot be read
			t.Fatal(err)
		}
		if text != "" {
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return path
	}
	unreadable, torn := write("1", ""), write("2", `{"turn":"t1","files":[`)
	if lost := r.recover(); len(lost) != 1 || !strings.Contains(lost[0], filepath.Base(unreadable)) {
		t.Errorf("lost %v", lost)
	}
	if _, err := os.Stat(unreadable); err != nil {
		t.Error("the record that cannot be read was removed")
	}
	if _, err := os.Stat(torn); err == nil {
		t.Error("the torn record is left")
	}
}
