package ui

import (
	"testing"

	"github.com/charmbracelet/x/ansi"

	"agentctl/protocol"
	"agentctl/tui/transcript"
)

func TestHighlightKeepsText(t *testing.T) {
	query, err := protocol.ParseQuery("漢 b")
	if err != nil {
		t.Fatal(err)
	}
	styles := NewStyles(nil, "")
	for _, line := range []string{"a 漢字", "\x1b[1mbold 漢\x1b[m字", "none", "İ 漢 B", "漢漢"} {
		got := styles.Highlight(line, query)
		if ansi.Strip(got) != ansi.Strip(line) {
			t.Errorf("Highlight(%q) = %q, want the same text", line, got)
		}
	}
}

func FuzzHighlight(f *testing.F) {
	for _, seed := range [][2]string{
		{"b", "ab"},
		{"👩", "x👩‍👩‍👧 b👩"},
		{"e", "e\u0301e"},
		{"字", "漢字漢字"},
		{"a b", "\ta  b\u00a0"},
		{"\u200d", "👩‍👩‍👧"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, words, text string) {
		query, err := protocol.ParseQuery(words)
		if err != nil {
			return
		}
		styles := NewStyles(nil, "")
		parsed := transcript.NewText()
		parsed.Append(text)
		lines, _ := parsed.Lines(40)
		for _, line := range lines {
			line = styles.Error.Render(line)
			if got := styles.Highlight(line, query); ansi.Strip(got) != ansi.Strip(line) {
				t.Errorf("query %q: Highlight(%q) = %q, want the same text", words, line, got)
			}
		}
	})
}
