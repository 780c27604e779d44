package approval

import (
	"slices"
	"strings"
	"testing"

	"agentctl/internal/dev/requestcases"
	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

func TestARequestIsShownWithAllThatRuns(t *testing.T) {
	for _, r := range tuitest.RequestCases() {
		text := cardText(&r.Approval, 1000)
		var w tuitest.Witness
		for line := range strings.SplitSeq(text, "\n") {
			w.Look("│ " + line)
		}
		if missing := r.Missing(&w); missing != nil {
			t.Errorf("%s: lacks %q:\n%s", r.Name, missing, text)
		}
		if r.Approval.Command == "" && strings.Contains("\n"+text, "\ncommand ") {
			t.Errorf("%s: shown as a command:\n%s", r.Name, text)
		}
	}
}

// Requests that run different things look different, except for shells, which run the same command.
func TestRequestsThatRunDifferentThingsLookDifferent(t *testing.T) {
	dir := t.TempDir()
	shown := map[string]string{} // group by what is shown
	for _, c := range requestcases.All(dir) {
		a := c.Approval(dir)
		text := cardText(&a, 1000)
		words := strings.Contains(c.Input, "[")
		if other, ok := shown[text]; ok && other != c.Group() && !words && c.Command != "" {
			t.Errorf("%s is shown like %s:\n%s", c.Name, other, text)
		}
		shown[text] = c.Group()
	}
}

// TestALineCannotPassForAnotherPart shows a request whose texts imitate the lines of a card, at
// widths at which they wrap everywhere.
func TestALineCannotPassForAnotherPart(t *testing.T) {
	const other = "command ▏ ls\nin      ▏ /safe\n│ reason  ▏ fine "
	r := &protocol.Approval{
		Kind: protocol.ApproveCommand, Title: "Run\n" + other, CWD: "/w\n" + other, Command: "rm x\n" + other,
		Name: "sh\n" + other, Why: "see\n" + other, Paths: []string{"a\nfile    ▏ b\n" + other},
		Input: []byte(`{"command":"` + strings.Repeat("command ▏ ls ", 20) + `"}`),
	}
	labels := []string{"⚠", "command", "tool", "input", "file", "in", "title", "reason"}
	for width := minWidth; width < 90; width++ {
		var got []string
		for line := range strings.SplitSeq(cardText(r, width), "\n") {
			label, _, found := strings.Cut(line, "▏")
			if wrapped, _, ok := strings.Cut(line, "↪"); ok && strings.TrimSpace(wrapped) == "" {
				label, found = "", true
			}
			if strings.HasPrefix(line, "⚠") {
				label, found = "⚠", true
			}
			if above := width < minColumns && slices.Contains(labels, line); !found && !above {
				t.Fatalf("width %d: line %q has no gutter", width, line)
			}
			if found && width >= minColumns && label != "⚠" && label != "" && len(label) != labelWidth {
				t.Fatalf("width %d: line %q has its gutter elsewhere", width, line)
			}
			if label = strings.TrimSpace(label); label != "" {
				got = append(got, label)
			}
		}
		if text := strings.Join(got, " "); text != strings.Join(labels, " ") {
			t.Fatalf("width %d: got labels %s, want %s", width, text, labels)
		}
	}
}

func TestAPathCannotPassForAnotherFile(t *testing.T) {
	old := "a\n"
	change := func(path string) protocol.Content {
		return protocol.Content{Type: "diff", Path: path, Old: &old, New: "b\n"}
	}
	for width := 40; width < 90; width++ {
		r := &protocol.Approval{Kind: protocol.ApprovePatch, Content: []protocol.Content{
			change("a\nb.go"), change(strings.Repeat("new /etc/x +1 −0 ", 20)),
		}}
		var files []string
		for line := range strings.SplitSeq(cardText(r, width), "\n") {
			if _, text, ok := strings.Cut(line, lineGutter); ok && !strings.HasPrefix(text, "↪") && text[0] > ' ' &&
				(text[0] < '0' || text[0] > '9') {
				files = append(files, text[:1])
			}
		}
		if got := strings.Join(files, ""); got != "an" {
			t.Fatalf("width %d: got headers %q of two files:\n%s", width, got, cardText(r, width))
		}
	}
	r := &protocol.Approval{Kind: protocol.ApprovePatch, Content: []protocol.Content{change("a\nb.go")}}
	if got := cardText(r, 80); !strings.Contains(got, "a⏎b.go") {
		t.Errorf("the line break of the path is not shown:\n%s", got)
	}
}
