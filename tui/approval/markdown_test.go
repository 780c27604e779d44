package approval

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"agentctl/protocol"
	"agentctl/tui/ui"
)

func TestMarkdownOfARequestHidesNothing(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"drawn":            {"run **this**\n\n```sh\nls -l\n```", "run this\n\n sh\n ls -l"},
		"link":             {"see [the site](https://a.example/b)", "see the site (https://a.example/b)"},
		"table":            {"| a | b |\n|---|---|\n| c | d |", " a │ b\n ──┼──\n c │ d"},
		"link definition":  {"fine **text**\n\n[x]: /rm", "fine **text**\n\n[x]: /rm"},
		"no definition":    {"fine **text**\n\n[x]: rm -rf", "fine text\n\n[x]: rm -rf"},
		"link title":       {`[a](/b "rm -rf")`, `[a](/b "rm -rf")`},
		"fence in a list":  {"- *a*\n  ```sh\n  ls\n  ```", "• a\n   sh\n   ls"},
		"long language":    {"*a*\n```aaaaaaaaaaaaaaaaarm\nls\n```", "*a*\n```aaaaaaaaaaaaaaaaarm\nls\n```"},
		"fence with words": {"```sh rm -rf\nls\n```", "```sh rm -rf\nls\n```"},
		"entity":           {"a&#x200b;b **c**", "a&#x200b;b **c**"},
		"invisible":        {"a\u200bb **c**", "a‹U+200B›b c"},
		"comment":          {"<!-- rm -->\n\n**b**", " <!-- rm -->\n\nb"},
	} {
		content := []protocol.Content{{Type: "text", Text: c.text, MediaType: "text/markdown; charset=utf-8"}}
		r := &protocol.Approval{Request: "r1", Kind: protocol.ApproveTool, Content: content}
		f := NewForm(ui.NewStyles(time.UTC, ""), r)
		for range 2 { // laid out, then from the cache
			f.card.update(f.styles, r, f.options, 100)
			var lines []string
			for i := range f.card.lines[:f.card.inForm] {
				_, line, _ := strings.Cut(ansi.Strip(f.card.lines[i].render(f.styles)), lineGutter)
				lines = append(lines, strings.TrimRight(line, " "))
			}
			if got := strings.Join(lines, "\n"); got != c.want {
				t.Errorf("%s: got %q, want %q", name, got, c.want)
			}
		}
	}
}
