package history

import (
	"strings"
	"testing"

	"agentctl/protocol"
)

func TestASnippetIsALineAroundTheFirstWord(t *testing.T) {
	q, err := protocol.ParseQuery("needle")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, want string }{
		{"a needle", "a needle"},
		{"tab\tnew\nline\x7f needle", "tab new line  needle"},
		{
			strings.Repeat("漢", 50) + "needle" + strings.Repeat("字", 60),
			strings.Repeat("漢", snippetLead/3) + "needle" + strings.Repeat("字", 38),
		},
		{
			strings.Repeat("x", 50) + "needle" + strings.Repeat("y", 200),
			strings.Repeat("x", snippetLead) + "needle" + strings.Repeat("y", snippetSize-snippetLead-6),
		},
	} {
		got, matches := snippet(q, c.text)
		if got != c.want || len(matches) != 1 || got[matches[0].From:matches[0].To] != "needle" {
			t.Errorf("%q with %v, want %q", got, matches, c.want)
		}
	}
}
