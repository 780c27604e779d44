package catalog

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"agentctl/protocol"
)

func TestADiffIsThatOfTheChange(t *testing.T) {
	const hunk = "@@ -1,2 +1,2 @@\n one\n-two\n+three\n"
	for name, test := range map[string]struct {
		diff, old, changed string
		want               bool
	}{
		"a hunk": {hunk, "one\ntwo\n", "one\nthree\n", true},
		"with headers": {
			"Index: /w/a\n====\n--- /w/a\n+++ /w/a\n" + hunk, "one\ntwo\n", "one\nthree\n", true,
		},
		"of git": {
			"diff --git a/w/a b/w/a\nindex 00..00 100644\n--- a/w/a\n+++ b/w/a\n" + hunk, "two", "three", true,
		},
		"a new file": {"--- a/dev/null\n+++ b/w/a\n@@ -1,0 +1,1 @@\n+one\n", "", "one\n", true},
		"a line without an end": {
			"@@ -1,1 +1,1 @@\n-one\n+two\n\\ No newline at end of file\n", "one\n", "two", true,
		},
		"two hunks": {
			"@@ -1,1 +1,1 @@\n-a\n+x\n@@ -3,1 +3,1 @@\n-c\n+y\n", "a\nb\nc\n", "x\nb\ny\n", true,
		},
		"another hunk":             {hunk + "@@ -9,0 +9,1 @@\n+evil\n", "one\ntwo\n", "one\nthree\n", false},
		"another line":             {hunk + "+evil\n", "one\ntwo\n", "one\nthree\n", false},
		"another line of a part":   {hunk + "+evil\n", "two", "three", false},
		"a removed line of a part": {hunk + "-evil\n", "two", "three", false},
		"another text":             {hunk, "one\ntwo\n", "one\nfour\n", false},
		"another file":             {"--- /w/b\n+++ /w/b\n" + hunk, "one\ntwo\n", "one\nthree\n", false},
		"a new name":               {"rename from /w/a\nrename to /w/b\n" + hunk, "one\ntwo\n", "one\nthree\n", false},
		"a program": {
			"new file mode 100755\n--- /dev/null\n+++ b/w/a\n@@ -0,0 +1,1 @@\n+one\n", "", "one\n", false,
		},
		"a hunk with more lines": {"@@ -1,1 +1,1 @@\n-one\n+two\n+three\n", "one\n", "two\nthree\n", false},
		"a removal":              {"--- a/w/a\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-one\n", "one\n", "", false},
		"no hunk":                {"--- /w/a\n+++ /w/a\n", "one\n", "one\n", false},
		"a line out of place":    {"+evil\n" + hunk, "one\ntwo\n", "one\nthree\n", false},
		"a hunk beyond the end":  {"@@ -8,1 +8,1 @@\n-one\n+two\n", "x\n", "y\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			c := protocol.Content{Type: "diff", Path: "/w/a", Old: &test.old, New: test.changed}
			if got := isDiffOf(test.diff, &c); got != test.want {
				t.Errorf("%t for\n%s", got, test.diff)
			}
		})
	}
}

func TestAReplacementIsFoundInOnePlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[ab]{0,6}`)
		before, from, to, after := word.Draw(t, "before"), word.Draw(t, "from"), word.Draw(t, "to"), word.Draw(
			t, "after",
		)
		want := from != "" || before+after == ""
		if got := replaces(before+from+after, from, to, before+to+after); got != want {
			t.Fatalf("%t, want %t", got, want)
		}
		other := word.Draw(t, "other")
		got, any := replaces(before+from+after, from, to, other), false
		text := before + from + after
		for at := range len(text) + 1 {
			rest, ok := strings.CutPrefix(text[at:], from)
			any = any || ok && from != "" && text[:at]+to+rest == other
		}
		if got != (any || from == "" && text == "" && to == other) {
			t.Fatalf("%t for %q", got, other)
		}
	})
}

func BenchmarkAReplacementInALongText(b *testing.B) {
	text := strings.Repeat("a", 1<<20)
	for b.Loop() {
		replaces(text, text[:1<<19], text[:1<<19-1]+"b", text)
	}
}

func TestArgumentsOfAnUnknownAgentAreAllUnseen(t *testing.T) {
	old := "one"
	e := &Edit{Call: "c", Changes: []protocol.Content{{Type: "diff", Path: "/w/a", Old: &old, New: "two"}}}
	input := json.RawMessage(`{ "filePath": "/w/a" }`)
	for name, test := range map[string]struct {
		agent Agent
		edit  *Edit
		want  string
	}{
		"unknown":                {Agent{}, e, string(input)},
		"known":                  {opencode, e, `{}`},
		"known without a change": {opencode, &Edit{}, string(input)},
	} {
		if got := test.agent.Unseen(test.edit, input); string(got) != test.want {
			t.Errorf("%s: %s", name, got)
		}
	}
	twice := json.RawMessage(`{"filePath":"/w/a","filePath":"/w/b"}`)
	if got := opencode.Unseen(e, twice); string(got) != string(twice) {
		t.Errorf("a name twice: %s", got)
	}
}
