package protocol

import (
	"encoding/json"
	"testing"
)

func TestOnlyRulesOfThisVersionAreHonoured(t *testing.T) {
	for subject, want := range map[string]bool{
		`{"command":"ls","cwd":"/w"}`: true,
		`{"cwd":"/w","command":"ls"}`: false, // not canonical
		"/w\x00ls":                    false,
		"fetch":                       false,
		"/w/a.go\x00/w/b.go":          false,
		"":                            false,
	} {
		r := Rule{Subject: subject}
		if got := r.Honoured(); got != want {
			t.Errorf("%q is honoured: %t", subject, got)
		}
	}
}

func TestAnOldRuleMatchesNoRequest(t *testing.T) {
	always := []Option{{ID: "a", Kind: AllowAlways}}
	for subject, a := range map[string]Approval{
		"/w\x00ls": {Kind: ApproveCommand, Command: "ls", CWD: "/w"},
		"fetch":    {Kind: ApproveTool, Name: "fetch", Input: json.RawMessage(`{"url":"x"}`)},
		"/w/a.go": {
			Kind: ApprovePatch, Paths: []string{"/w/a.go"}, Content: []Content{{Type: "diff", Path: "/w/a.go"}},
		},
	} {
		a.Options = always
		s := &State{Rules: []Rule{{ID: "old", Kind: a.Kind, Subject: subject}}}
		if s.RuleFor(&a) != nil {
			t.Errorf("%q matches %+v", subject, a)
		}
		s.Rules = append(s.Rules, Rule{ID: "new", Kind: a.Kind, Subject: a.Subject()})
		if r := s.RuleFor(&a); r == nil || r.ID != "new" {
			t.Errorf("%q matches %+v: %+v", a.Subject(), a, r)
		}
		a.Options = nil
		if s.RuleFor(&a) != nil {
			t.Errorf("%+v does not offer to allow it always", a)
		}
	}
}

// A patch as text gets a rule only for files that the request names in other ways too.
func TestAPatchGetsARuleForTheFilesThatAllOfItNames(t *testing.T) {
	for name, test := range map[string]struct {
		patch string
		want  bool
	}{
		"a diff":                 {"--- a/x.go\n+++ b/x.go\n@@ -1 +1 @@\n-a\n+b\n", true},
		"a diff of git":          {"diff --git a/x.go b/x.go\n--- a/x.go\n+++ b/x.go\n@@ -1 +1 @@\n-a\n+b\n", true},
		"with the whole path":    {"--- /w/x.go\n+++ /w/x.go\n@@ -1 +1 @@\n-a\n+b\n", true},
		"with the root as a/":    {"--- a/dev/null\n+++ b/w/x.go\n@@ -0,0 +1 @@\n+b\n", true},
		"a new file":             {"--- /dev/null\n+++ b/x.go\n@@ -0,0 +1 @@\n+b\n", true},
		"in another form":        {"*** Begin Patch\n*** Update File: x.go\n@@\n-a\n+b\n*** End Patch", true},
		"another file":           {"--- a/x.go\n+++ b/x.go\n@@ -1 +1 @@\n-a\n+b\n--- a/y.go\n+++ b/y.go\n", false},
		"another file by ..":     {"--- a/x.go\n+++ b/../x.go\n@@ -1 +1 @@\n-a\n+b\n", false},
		"a directory called a":   {"--- a/a/x.go\n+++ b/a/x.go\n", false},
		"a new name":             {"diff --git a/x.go b/y.go\nrename from x.go\nrename to y.go\n", false},
		"a new name by itself":   {"--- a/x.go\n+++ b/x.go\nrename to y.go\n", false},
		"no text of git":         {"diff --git a/x.go b/x.go b/y.go\n", false},
		"moved in another form":  {"*** Begin Patch\n*** Update File: x.go\n*** Move to: y.go\n*** End Patch", false},
		"deleted in other form":  {"*** Begin Patch\n*** Delete File: y.go\n*** End Patch", false},
		"bytes that are not UTF": {"--- a/x.go\n+++ b/x.go\n@@ -1 +1 @@\n-a\n+\xff\n", false},
		"no file":                {"@@ -1 +1 @@\n-a\n+b\n", false},
	} {
		a := Approval{Kind: ApprovePatch, CWD: "/w", Paths: []string{"/w/x.go"}, Patch: test.patch}
		if got := a.Subject() != ""; got != test.want {
			t.Errorf("%s: gets a rule: %t", name, got)
		}
	}
}

func TestAScopeTellsWhatARuleCovers(t *testing.T) {
	input := func(s string) json.RawMessage { return json.RawMessage(s) }
	for want, a := range map[string]Approval{
		"exactly this command, in this session":       {Kind: ApproveCommand, Command: "ls"},
		"exactly this command in /w, in this session": {Kind: ApproveCommand, Command: "ls", CWD: "/w"},
		"exactly this command in /w with timeout: 5 of the tool Bash, in this session": {
			Kind: ApproveCommand, Command: "ls", CWD: "/w", Name: "Bash", Input: input(`{"command":"ls","timeout":5}`),
		},
		"exactly these arguments in /w, in this session": {
			Kind: ApproveCommand, CWD: "/w", Input: input(`{"command":"ls","env":{}}`),
		},
		"exactly these arguments of the tool fetch, in this session": {
			Kind: ApproveTool, Name: "fetch", Input: input(`{"url":"x"}`),
		},
		"exactly these arguments of the tool \"fetch, always\", in this session": {
			Kind: ApproveTool, Name: "fetch, always", Input: input(`{"url":"x"}`),
		},
		"every patch of exactly these files, in this session: /w/a, /w/b": {
			Kind: ApprovePatch, Paths: []string{"/w/b", "/w/a"}, Content: []Content{{Type: "diff", Path: "/w/b"}},
		},
		"": {Kind: ApproveTool, Name: "fetch"},
	} {
		if got := a.Scope(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
