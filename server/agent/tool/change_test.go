package tool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/protocol"
)

// begin wraps the lines of a patch.
func begin(lines ...string) string {
	return "*** Begin Patch\n" + strings.Join(lines, "\n") + "\n*** End Patch"
}

func TestPatches(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("0123456789abcde\n", 5<<16) // 5 MiB
	for name, test := range map[string]struct {
		files map[string]string
		patch string
		want  map[string]string // the files that differ after; "-": removed
	}{
		"every operation": {
			files: map[string]string{"a": "1\n2\n", "b": "x\n", "c": "y\n"},
			patch: begin("*** Update File: a", "@@", "-1", "+one", "*** Delete File: b", "*** Update File: c",
				"*** Move to: sub/d", "@@", "-y", "+z", "*** Add File: new/e", "+text"),
			want: map[string]string{"a": "one\n2\n", "b": "-", "c": "-", "sub/d": "z\n", "new/e": "text\n"},
		},
		"a move alone": {
			map[string]string{"a": "1\n"},
			begin("*** Update File: a", "*** Move to: b"),
			map[string]string{"a": "-", "b": "1\n"},
		},
		"CRLF": {
			map[string]string{"a": "1\r\n2\r\n"},
			begin("*** Update File: a", "@@", "-1", "+3"),
			map[string]string{"a": "3\r\n2\r\n"},
		},
		"no line end at the end": {
			map[string]string{"a": "1\n2"},
			begin("*** Update File: a", "@@", "-2", "+3"),
			map[string]string{"a": "1\n3"},
		},
		"an absolute path inside": {
			map[string]string{"a": "1\n"},
			begin("*** Update File: DIR/a", "@@", "-1", "+2"),
			map[string]string{"a": "2\n"},
		},
		"5 MiB": {
			map[string]string{"a": "first\n" + large + "last\n"},
			begin("*** Update File: a", "@@", "-last", "+end", "*** End of File"),
			map[string]string{"a": "first\n" + large + "end\n"},
		},
		"5 MiB in the patch": {
			nil, begin("*** Add File: a", "+"+strings.ReplaceAll(large, "\n", "\n+")),
			map[string]string{"a": large + "\n"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, test.files)
			_, _, err := r.run(t.Context(), ApplyPatch, args{"patch": strings.ReplaceAll(test.patch, "DIR", r.dir)})
			if err != nil {
				t.Fatal(err)
			}
			after := newRig(t, test.files)
			for name, text := range test.want {
				if after.put(name, text); text == "-" {
					_ = os.Remove(filepath.Join(after.dir, name))
				}
			}
			if got, want := r.tree(), after.tree(); got != want {
				t.Errorf("got:\n%.500s\nwant:\n%.500s", got, want)
			}
		})
	}
}

func TestHostileAndConflictingPatchesChangeNothing(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ patch, want string }{
		"conflict in the last file": {
			begin("*** Update File: a", "@@", "-1", "+2", "*** Add File: n", "+n", "*** Update File: b", "@@",
				"-no", "+x"),
			"does not have these lines",
		},
		"a file twice":      {begin("*** Update File: a", "@@", "-1", "+2", "*** Delete File: ./sub/../a"), "twice"},
		"moved to the same": {begin("*** Update File: a", "*** Move to: a"), "exists already"},
		"two moves to one": {
			begin("*** Update File: a", "*** Move to: x", "*** Update File: b", "*** Move to: x"), "twice",
		},
		"added, moved to":     {begin("*** Add File: x", "+x", "*** Update File: b", "*** Move to: x"), "twice"},
		"add over a file":     {begin("*** Add File: a", "+x"), "exists already"},
		"add over a link":     {begin("*** Add File: link", "+x"), "symbolic link"},
		"add in a file":       {begin("*** Add File: a/x", "+x"), "not a directory"},
		"move over a file":    {begin("*** Update File: a", "*** Move to: b"), "exists already"},
		"update of no file":   {begin("*** Update File: none", "@@", "-1", "+2"), "does not exist"},
		"delete of no file":   {begin("*** Delete File: none"), "does not exist"},
		"a directory":         {begin("*** Delete File: sub"), "is a directory"},
		"the directory":       {begin("*** Delete File: ."), "is a directory"},
		"a binary file":       {begin("*** Update File: binary", "@@", "-1", "+2"), "not a text"},
		"not UTF-8":           {begin("*** Update File: latin", "@@", "-1", "+2"), "not a text"},
		"a link":              {begin("*** Update File: link", "@@", "-1", "+2"), "symbolic link"},
		"a link to nowhere":   {begin("*** Add File: nowhere", "+x"), "symbolic link"},
		"below a broken link": {begin("*** Add File: nowhere/x", "+x"), "leads nowhere"},
		"a loop of links":     {begin("*** Update File: loop/x", "@@", "-1", "+2"), "loop"},
		"a NUL in the path":   {begin("*** Add File: a\x00b", "+x"), "invalid path"},
		"a name too long":     {begin("*** Add File: "+strings.Repeat("x", 5000), "+x"), "too long"},
		"no patch":            {"rm -rf /", "does not begin"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, map[string]string{
				"a": "1\n", "b": "x\n", "sub/c": "c\n", "binary": "\x00\x01\n1\n", "latin": "\xff\n1\n",
			})
			r.link("a", "link")
			r.link("none", "nowhere")
			r.link("loop", "loop")
			before := r.tree()
			_, _, err := r.run(t.Context(), ApplyPatch, args{"patch": test.patch})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
			if after := r.tree(); after != before {
				t.Errorf("before:\n%safter:\n%s", before, after)
			}
		})
	}
}

// A path that leads out of the directory is shown as such, with the file that it resolves to.
func TestAPathOutOfTheDirectoryIsNotContained(t *testing.T) {
	r := newRig(t, map[string]string{
		"../secret": "1\n", "../other/x": "1\n", "../in/x": "1\n", "in/x": "1\n", ".git/config": "1\n",
		".vscode/config": "1\n",
	})
	r.link("../other", "out")
	r.link("in", "inner")
	r.link(filepath.Join(r.dir, "in"), "absolute")
	for path, want := range map[string]struct {
		real      string
		contained bool
	}{
		"in/x":                 {"in/x", true},
		"inner/x":              {"in/x", true},
		"absolute/x":           {"in/x", true},
		"in/../in/x":           {"in/x", true},
		"../secret":            {"../secret", false},
		"in/../../secret":      {"../secret", false},
		"out/x":                {"../other/x", false},
		r.dir + "/../secret":   {"../secret", false},
		r.dir + "/out/../in/x": {"../in/x", false}, // .. after the link, as the system resolves it
		"out/../in/x":          {"../in/x", false},
		"inner/../in/x":        {"in/x", true},
		".git/config":          {".git/config", false},
		".vscode/config":       {".vscode/config", false},
	} {
		real := filepath.Join(r.dir, want.real)
		c := r.call(args{"patch": begin("*** Update File: "+path, "@@", "-1", "+2")})
		p, err := r.tool(ApplyPatch).Preview(t.Context(), c)
		if err != nil || p.Contained != want.contained || p.Safe || p.Locations[0].Path != real ||
			p.Request.Paths[0] != real || p.Content != nil || (p.Request.Why == "") != want.contained {
			t.Errorf("%s: %+v, %v", path, p, err)
		}
		if filepath.Base(path) == "config" {
			continue
		}
		read, err := r.tool("read").Preview(t.Context(), r.call(args{"path": path}))
		if err != nil || read.Safe != want.contained {
			t.Errorf("read %s: %+v, %v", path, read, err)
		}
	}
}

// A change outside of the directory is made once it is allowed.
func TestAnAllowedChangeOutsideOfTheDirectory(t *testing.T) {
	r := newRig(t, map[string]string{"../secret": "1\n"})
	r.must(ApplyPatch, args{"patch": begin("*** Update File: ../secret", "@@", "-1", "+2", "*** Add File: ../n/m",
		"+x")})
	if got, want := r.tree(), "../n/m \"x\\n\"\n../secret \"2\\n\"\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A link that is made after the check leads nowhere.
func TestALinkMadeAfterTheCheckDoesNotLeadOut(t *testing.T) {
	for name, patch := range map[string]string{
		"update": begin("*** Update File: sub/x", "@@", "-1", "+2"),
		"add":    begin("*** Add File: sub/new", "+1"),
		"delete": begin("*** Delete File: sub/x"),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, map[string]string{"sub/x": "1\n", "../other/x": "1\n"})
			c := r.call(args{"patch": patch})
			p, err := r.tool(ApplyPatch).Preview(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.RemoveAll(filepath.Join(r.dir, "sub")); err != nil {
				t.Fatal(err)
			}
			r.link("../other", "sub")
			before := r.tree()
			if _, err := p.Run(t.Context(), nil); err == nil {
				t.Error("it was applied")
			}
			if after := r.tree(); after != before {
				t.Errorf("before:\n%safter:\n%s", before, after)
			}
		})
	}
}

func TestAFileChangedAfterTheCheckIsAConflict(t *testing.T) {
	for name, change := range map[string]func(r *rig){
		"other text": func(r *rig) { r.put("b", "x\nmore\n") },
		"removed":    func(r *rig) { _ = os.Remove(filepath.Join(r.dir, "b")) },
		"appeared":   func(r *rig) { r.put("n", "") },
		"a directory": func(r *rig) {
			_ = os.Remove(filepath.Join(r.dir, "b"))
			r.put("b/c", "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, map[string]string{"a": "1\n", "b": "x\n"})
			c := r.call(args{"patch": begin("*** Update File: a", "@@", "-1", "+2", "*** Update File: b", "@@",
				"-x", "+y",
				"*** Add File: n", "+n")})
			p, err := r.tool(ApplyPatch).Preview(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			change(r)
			before := r.tree()
			if _, err := p.Run(t.Context(), nil); err == nil {
				t.Error("it was applied")
			}
			if after := r.tree(); after != before {
				t.Errorf("before:\n%safter:\n%s", before, after)
			}
		})
	}
}

// manyChanges is a patch with every operation, in several directories.
var manyChanges = begin("*** Update File: a/1", "@@", "-1", "+2", "*** Delete File: b/2",
	"*** Add File: new/dir/3", "+3",
	"*** Update File: c/4", "*** Move to: d/5", "@@", "-4", "+5", "*** Update File: e/6", "@@", "-6", "+7")

// If any operation fails, no file is changed and no temporary file is left.
func TestAFailedPatchIsTakenBack(t *testing.T) {
	t.Parallel()
	errFault := errors.New("read-only file system")
	files := map[string]string{"a/1": "1\n", "b/2": "2\n", "c/4": "4\n", "e/6": "6\n"}
	faults := 0
	for n := 0; ; n++ {
		r := newRig(t, files)
		before := r.tree()
		set, _, err := r.plan(manyChanges)
		if err != nil {
			t.Fatal(err)
		}
		count := 0
		failed := ""
		err = set.apply(newToken(), faultyFiles(func(operation, name string) error {
			if operation == "restore" {
				return nil
			}
			if count++; count == n+1 {
				failed = operation + " " + name
				return errFault
			}
			return nil
		}))
		if failed == "" {
			if err != nil || r.tree() == before {
				t.Fatalf("without a fault: %v", err)
			}
			break
		}
		faults++
		if !errors.Is(err, errFault) || !strings.Contains(err.Error(), "nothing was changed") || errors.Is(err,
			errRestore) {
			t.Errorf("%s: %v", failed, err)
		}
		if after := r.tree(); after != before {
			t.Errorf("%s: before:\n%safter:\n%s", failed, before, after)
		}
		if _, err := os.Stat(filepath.Join(r.dir, "new")); err == nil {
			t.Errorf("%s: a directory is left", failed)
		}
	}
	if faults < 12 {
		t.Errorf("only %d operations failed", faults)
	}
}

// In a directory that became read-only in the middle a file is restored by writing it.
func TestAFileIsRestoredInPlace(t *testing.T) {
	r := newRig(t, map[string]string{"a": "1\n", "b": "2\n"})
	before := r.tree()
	set, _, err := r.plan(begin("*** Update File: a", "@@", "-1", "+a longer text",
		"*** Update File: b",
		"@@", "-2", "+3"))
	if err != nil {
		t.Fatal(err)
	}
	err = set.apply(newToken(), faultyFiles(func(operation, name string) error {
		if operation == "restore" || operation == "commit" && name == "b" {
			return errors.New("read-only")
		}
		return nil
	}))
	if err == nil || errors.Is(err, errRestore) {
		t.Error(err)
	}
	if after := r.tree(); after != before {
		t.Errorf("before:\n%safter:\n%s", before, after)
	}
}

// The error names files that cannot be restored.
func TestAFileThatCannotBeRestoredIsNamed(t *testing.T) {
	r := newRig(t, map[string]string{"b": "2\n"})
	set, _, err := r.plan(begin("*** Add File: a", "+1", "*** Delete File: b"))
	if err != nil {
		t.Fatal(err)
	}
	err = set.apply(newToken(), faultyFiles(func(operation, name string) error {
		if operation == "restore" || operation == "commit" && name == "b" {
			return errors.New("read-only")
		}
		return nil
	}))
	if !errors.Is(err, errRestore) || !strings.Contains(err.Error(), "could not be restored: a (") {
		t.Error(err)
	}
}

func TestAnEditedPatchIsWhatRuns(t *testing.T) {
	r := newRig(t, map[string]string{"a": "1\n", "../secret": "s\n"})
	c := r.call(args{"patch": begin("*** Update File: a", "@@", "-1", "+2")})
	p, err := r.tool(ApplyPatch).Preview(t.Context(), c)
	if err != nil || p.Request.Kind != protocol.ApprovePatch || p.Request.Patch == "" {
		t.Fatalf("%+v, %v", p, err)
	}
	c.Patch = begin("*** Update File: ../secret", "@@", "-s", "+t")
	if _, err := p.Run(t.Context(), nil); err == nil || !strings.Contains(err.Error(),
		"not applied") {
		t.Errorf("an edit that leads out: %v", err)
	}
	c.Patch = begin("*** Update File: a", "@@", "-1", "+3")
	result, err := p.Run(t.Context(), nil)
	if err != nil || result.Text != "Done:\nupdate a\n" {
		t.Errorf("%+v, %v", result, err)
	}
	if got, want := r.tree(), "../secret \"s\\n\"\na \"3\\n\"\n"; got != want {
		t.Errorf("got %s", got)
	}
}

// A patch whose lines do not match the file exactly is shown as a diff too.
func TestAnInexactPatchIsShownAsADiff(t *testing.T) {
	r := newRig(t, map[string]string{"a": "\tone\n\ttwo\n"})
	for line, exact := range map[string]bool{"\tone": true, "    one": false} {
		c := r.call(args{"patch": begin("*** Update File: a", "@@", "-"+line, "+three")})
		p, err := r.tool(ApplyPatch).Preview(t.Context(), c)
		if err != nil || exact != (p.Content == nil) || !exact && *p.Content[0].Old != "\tone\n\ttwo\n" {
			t.Errorf("%q: %+v, %v", line, p, err)
		}
	}
}

// A request can be allowed always: its texts name exactly its files.
func TestARequestForAPatchNamesItsFiles(t *testing.T) {
	r := newRig(t, map[string]string{"a": "1\n", "b": "1\n"})
	calls := map[string]args{
		ApplyPatch: {"patch": begin("*** Update File: a", "@@", "-1", "+2", "*** Add File: n", "+x")},
		"write":    {"path": "n", "content": "x"},
		"edit":     {"path": "b", "old_string": "1", "new_string": "2"},
	}
	r.must("read", args{"path": "b"})
	for name, in := range calls {
		c := r.call(in)
		p, err := r.tool(name).Preview(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		a := p.Request
		a.Name, a.Content, a.CWD = name, p.Content, r.dir
		if files, whole := a.Files(); !whole || a.Subject() == "" || len(files) == 0 {
			t.Errorf("%s: %v, whole %t, subject %q", name, files, whole, a.Subject())
		}
	}
}

func TestModesOfFiles(t *testing.T) {
	r := newRig(t, map[string]string{"run.sh": "1\n", "move.sh": "1\n"})
	for _, name := range []string{"run.sh", "move.sh"} {
		if err := os.Chmod(filepath.Join(r.dir, name), 0o750); err != nil {
			t.Fatal(err)
		}
	}
	r.must(ApplyPatch, args{"patch": begin("*** Update File: run.sh", "@@", "-1", "+2", "*** Update File: move.sh",
		"*** Move to: moved.sh")})
	for _, name := range []string{"run.sh", "moved.sh"} {
		info, err := os.Stat(filepath.Join(r.dir, name))
		if err != nil || info.Mode().Perm() != 0o750 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

func TestALargeDiffKeepsTheChangeAlone(t *testing.T) {
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	before := b.String()
	after := strings.Replace(before, "line 10000\n", "new\n", 1)
	c := change{old: content{exists: true, bytes: []byte(before)}, new: content{exists: true, bytes: []byte(after)}}
	d := c.diff()
	if *d.Old != "line 9997\nline 9998\nline 9999\nline 10000\nline 10001\nline 10002\nline 10003\n" ||
		d.New != "line 9997\nline 9998\nline 9999\nnew\nline 10001\nline 10002\nline 10003\n" {
		t.Errorf("%q\n%q", *d.Old, d.New)
	}
}
