package policy

import (
	"os"
	"path/filepath"
	"testing"

	"agentctl/internal/dev/requestcases"
	"agentctl/protocol"
)

// classifier classifies requests in a directory with the files of requestcases.
func classifier(t *testing.T) *Classifier {
	t.Helper()
	dir := t.TempDir()
	if err := requestcases.Prepare(dir); err != nil {
		t.Fatal(err)
	}
	return &Classifier{
		Dir: dir, Own: []string{filepath.Join(dir, "data")}, ReadTools: []string{
			"Grep", "Read", "list_directory",
			"read", "read_file",
		},
	}
}

// Of all requests of the table, each policy allows only the ones that it certainly covers.
func TestAPolicyAllowsNothingButWhatItSays(t *testing.T) {
	k := classifier(t)
	for _, name := range []Policy{Ask, AutoRead, AutoEdit, Deny, Plan} {
		d := Decider{Choice: Choice{Policy: name}}
		for _, c := range append(requestcases.All(k.Dir), requestcases.Reads(k.Dir)...) {
			a := c.Approval(k.Dir)
			call, _ := k.Classify(&a)
			r, decided := d.Resolve(a.Request, &call)
			edit := c.Kind == protocol.ApprovePatch && c.Rule && name == AutoEdit
			read := c.Reads && name != Ask
			asks := name == Ask || name == AutoRead || name == AutoEdit ||
				name == Plan && c.Kind == protocol.ApproveTool && c.Tool == ""
			switch {
			case edit || read:
				if !decided || r.Outcome != protocol.Allowed || r.ByPolicy != string(name) || r.Reason == "" ||
					r.Decision != protocol.AllowOnce {
					t.Errorf("%s: %s: %+v, want allowed", name, c.Name, r)
				}
			case asks:
				if decided {
					t.Errorf("%s: %s: %s by the policy, want a request", name, c.Name, r.Outcome)
				}
			case !decided || r.Outcome != protocol.Denied || r.ByPolicy != string(name) || r.Reason == "":
				t.Errorf("%s: %s: %+v, want denied", name, c.Name, r)
			}
		}
	}
}

// No policy changes files that run programs or are agentctl's own.
func TestNoPolicyChangesProtectedFiles(t *testing.T) {
	k := classifier(t)
	d := Decider{Choice: Choice{Policy: AutoEdit}}
	old := "a"
	for path, allowed := range map[string]bool{
		"a.go": true, "sub/new.go": true, "agentctl/main.go": true,
		".git/hooks/post-commit": false, "sub/.GIT/config": false, "data/token": false, "data": false,
		".config/agentctl/config.json": false, ".local/share/agentctl/key": false,
		".claude/settings.json": false, ".envrc": false,
	} {
		a := protocol.Approval{
			Kind:    protocol.ApprovePatch,
			Content: []protocol.Content{{Type: "diff", Path: filepath.Join(k.Dir, path), Old: &old, New: "b"}},
		}
		call, _ := k.Classify(&a)
		if _, got := d.Resolve("r", &call); got != allowed {
			t.Errorf("%s: allowed %t", path, got)
		}
	}
}

// A path with .. after a link leads elsewhere than it reads: the patch is not certainly inside.
func TestAPatchWithAPathThatLeadsElsewhereIsAsked(t *testing.T) {
	k := &Classifier{Dir: linkedDir(t)}
	if err := os.Symlink("/usr/share", filepath.Join(k.Dir, "out")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		"a.go": true, "sub/../a.go": true, "link/a.go": true, "link/../a.go": false, "out/../a.go": false, "../a.go": false,
	} {
		a := protocol.Approval{Kind: protocol.ApprovePatch, Paths: []string{filepath.Join(k.Dir, "a.go")}}
		a.Input = []byte(`{"path":"` + path + `"}`)
		for i, name := range []string{path, k.Dir + "/" + path} {
			a := a
			if i == 1 {
				a.Paths, a.Input = []string{name}, []byte(`{"path":"`+name+`"}`)
			}
			if call, _ := k.Classify(&a); call.Contained && !want {
				t.Errorf("%s: contained", name)
			}
			a.Kind, a.Paths, a.Input = protocol.ApprovePatch, nil, nil
			a.Content = []protocol.Content{{Type: "diff", Path: name, New: "b"}}
			if call, _ := k.Classify(&a); call.Contained != want {
				t.Errorf("a diff of %s: contained: %t", name, call.Contained)
			}
		}
	}
}

// A read that carries a change is an edit: a rule for its tool does not allow it.
func TestAReadThatCarriesAChangeIsAnEdit(t *testing.T) {
	k := classifier(t)
	f := &protocol.PolicyFile{Allow: []protocol.PolicyRule{{Tool: "Read"}}}
	old := "a"
	for name, c := range map[string]struct {
		a    protocol.Approval
		want Action
	}{
		"a read":  {protocol.Approval{Input: []byte(`{"file_path":"a.go"}`)}, Allow},
		"a patch": {protocol.Approval{Input: []byte(`{"file_path":"a.go"}`), Patch: "*** x"}, AskUser},
		"a diff": {
			protocol.Approval{Content: []protocol.Content{{Type: "diff", Path: "a.go", Old: &old, New: "b"}}},
			AskUser,
		},
		"new text": {protocol.Approval{Input: []byte(`{"file_path":"a.go","new_string":"x"}`)}, AskUser},
	} {
		c.a.Kind, c.a.Name = protocol.ApproveTool, "Read"
		call, _ := k.Classify(&c.a)
		if r := JudgeFile(f, &call); r.Action != c.want {
			t.Errorf("%s: %s, want %s", name, marks[r.Action], marks[c.want])
		}
	}
}
