package sessionlist

import (
	"fmt"
	"testing"
)

func TestFindRanksNamesBeforeOtherFields(t *testing.T) {
	l := New()
	for _, s := range summaries() {
		l.Put(s)
	}
	l.SetFilter("status:failed")
	for text, want := range map[string]string{
		"":          "[s6 s2 s1]",
		"fix":       "[s2]",
		"e":         "[s2 s3 s5]", // names with e, the latest activity first; others are cut
		"infra":     "[s4]",
		"ada store": "[s2]",
		"codex as":  "[s6 s3]",
		"none":      "[]",
	} {
		got := []string{}
		for _, s := range l.Find(text, 3) {
			got = append(got, s.Session)
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%q: %v, want %s", text, got, want)
		}
	}
}
