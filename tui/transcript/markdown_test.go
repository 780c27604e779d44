package transcript

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/safetext"
)

// tagStyles renders styles other than Ground as tags.
func tagStyles(text string, style Style) string {
	if style &^= Ground; style == 0 {
		return text
	}
	tag := ""
	for i, name := range []string{"b", "i", "c", "l", "h", "f", "+", "-", "*", "u", "r", "s"} {
		if style&(1<<i) != 0 {
			tag += name
		}
	}
	tag += []string{"", "R", "G", "Y", "B", "M", "C"}[style.Hue()>>hueShift]
	return "<" + tag + ":" + text + ">"
}

// layOut returns the rendered lines of a text at a width, without links and spaces at the end.
func layOut(m *Markdown, width int, render RenderFunc) []string {
	lines, _ := m.Lines(width)
	var out []string
	for _, line := range lines {
		out = append(out, strings.TrimRight(withoutLinks(RenderStyles(line, render)), " "))
	}
	return out
}

// withoutLinks removes link sequences.
func withoutLinks(line string) string {
	var out strings.Builder
	for line != "" {
		n, _ := LinkSequence(line)
		if n == 0 {
			out.WriteByte(line[0])
			n = 1
		}
		line = line[n:]
	}
	return out.String()
}

func unstyled(text string, _ Style) string { return text }

func markdown(s string) *Markdown {
	m := NewMarkdown()
	m.Append(s)
	return m
}

func TestMarkdown(t *testing.T) {
	for _, c := range []struct {
		name, in string
		width    int
		want     []string
	}{
		{
			"inline styles", "a **strong** and *soft* `code` word",
			80,
			[]string{"a <b:strong> and <i:soft> <c:code> word"},
		},
		{"styles continue on the next line", "**strong words here**", 12, []string{"<b:strong words>", "<b:here>"}},
		{"nested styles", "**a *b* `c`**", 80, []string{"<b:a ><bi:b><b: ><bc:c>"}},
		{"line breaks stay", "one\ntwo  \nthree", 80, []string{"one", "two", "three"}},
		{"lower headings", "## A\n### B", 80, []string{"<bh:A>", "", "<h:B>"}},
		{
			"checkboxes with other content", "1. [ ] *a* b\n   - [x]\n- [y] c",
			80,
			[]string{"<f:☐ ><i:a> b", "  <f:• >[x]", "", "<f:• >[y] c"},
		},
		{"strikethrough", "~~a *b*~~ ~c~ ~~~d ~~ e", 80, []string{"<s:a ><is:b> ~c~ ~~~d ~~ e"}},
		{
			"last column aligned right", "a | b\n--|--:\nx | 1",
			80,
			[]string{" <b:a><f: │ ><b:b>", " <f:──┼──>", " x<f: │ >1"},
		},
		{
			"first column aligned right", "| n | b |\n|--:|---|\n| 1000 | x |\n| 7 | y |",
			80,
			[]string{"    <b:n><f: │ ><b:b>", " <f:─────┼──>", " 1000<f: │ >x", "    7<f: │ >y"},
		},
		{"heading", "# Title\ntext", 80, []string{"<bhu:Title>", "", "text"}},
		{"list", "- one\n- two\n  more\n  - deep\n", 80, []string{"<f:• >one", "<f:• >two", "  more", "  <f:• >deep"}},
		{"numbers", "3. three\n4. four", 80, []string{"<f:3. >three", "<f:4. >four"}},
		{"checkboxes", "- [x] done\n- [ ] open", 80, []string{"<f:☑ >done", "<f:☐ >open"}},
		{"list wraps behind its bullet", "- aaa bbb ccc", 9, []string{"<f:• >aaa bbb", "  ccc"}},
		{"list with paragraphs", "- a\n\n  b\n\nc", 80, []string{"<f:• >a", "", "  b", "", "c"}},
		{"quote", "> said\n> so", 80, []string{"<f:│ >said", "<f:│ >so"}},
		{"rule", "a\n\n---\n\nb", 5, []string{"a", "", "<f:─────>", "", "b"}},
		{
			"fence", "look:\n```go\nx :=\t1\n\ny\n```\ndone",
			80,
			[]string{"look:", "", " <f:go>", " x :=    <C:1>", "", " y", "", "done"},
		},
		{"a comment over lines", "```go\n/* a\nb */ if\n```", 80, []string{" <f:go>", " <f:/* a>", " <f:b */> <M:if>"}},
		{
			"a long line of code", "```go\nx := \"abcdef\"\n```",
			10,
			[]string{" <f:go>", " x := <G:\">", " <f:↪ ><G:abcdef>", " <f:↪ ><G:\">"},
		},
		{"unknown language", "```nope\nif x\n```", 80, []string{" <f:nope>", " <c:if x>"}},
		{"diff", "```diff\n+new\n-old\n same\n```", 80, []string{" <f:diff>", " <+:+new>", " <-:-old>", "  same"}},
		{"open fence", "```\nx\n**y", 80, []string{" <c:x>", " <c:**y>"}},
		{"fence in a list", "1. do\n   ```\n   x\n   ```\n2. go", 80, []string{"<f:1. >do", "    <c:x>", "<f:2. >go"}},
		{"longer fence", "````\n```\nx\n````", 80, []string{" <c:```>", " <c:x>"}},
		{
			"link", "[here](http://x.y) and <http://z>",
			80,
			[]string{"<l:here><f: (><f:http://x.y><f:)> and <l:http://z>"},
		},
		{"image", "![alt](pic.png)", 80, []string{"image: <l:alt><f: (pic.png)>"}},
		{"escape and entity", `\*not\* &lt;b&gt; &#27;[2J`, 80, []string{"*not* <b> [2J"}},
		{
			"html is shown as source", "<b>x</b>\n\n<div>\ny\n</div>",
			80,
			[]string{"<b>x</b>", "", " <M:<div>>", " y", " <M:</div>>"},
		},
		{
			"table", "| a | b |\n|---|---|\n| 1 | **x** |",
			80,
			[]string{" <b:a><f: │ ><b:b>", " <f:──┼──>", " 1<f: │ ><b:x>"},
		},
		{
			"table after a line", "so:\na | b\n---|:-:\n`x\\|y` | - z",
			80,
			[]string{"so:", "", " <b:a>  <f: │ > <b:b>", " <f:────┼────>", " <c:x|y><f: │ >- z"},
		},
		{
			"table in the middle", "|a|b|\n|:--:|--:|\n|wide|1|\n|x|22|",
			80,
			[]string{"  <b:a>  <f: │ > <b:b>", " <f:─────┼───>", " wide<f: │ > 1", "  x  <f: │ >22"},
		},
		{
			"table too wide for columns", "|ab|*cd*|\n|---|---|\n|1|`2`|\n|3|4|",
			9,
			[]string{"<b:ab: >1", "<b:cd: ><c:2>", "", "<b:ab: >3", "<b:cd: >4"},
		},
		{"no table", "a | b\nc | d", 80, []string{"a | b", "c | d"}},
		{"wide characters", "- 漢字漢字漢字", 8, []string{"<f:• >漢字漢", "  字漢字"}},
		{"nothing", "\n\n", 80, nil},
		{"control sequences", "a\x1b[31mb\x1b]0;x\x07\u009b2Jc", 80, []string{"abc"}},
	} {
		if got := layOut(markdown(c.in), c.width, tagStyles); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
	}
}

// tagLinks renders links as {URL|text}.
func tagLinks(line string) string {
	var out strings.Builder
	for line != "" {
		if n, to := LinkSequence(line); n > 0 {
			if to != "" {
				out.WriteString("{" + to + "|")
			} else {
				out.WriteString("}")
			}
			line = line[n:]
			continue
		}
		out.WriteByte(line[0])
		line = line[1:]
	}
	return out.String()
}

func TestOnlyWebAndMailURLsAreLinks(t *testing.T) {
	long := "https://x/" + strings.Repeat("a", maxLinkBytes-10)
	for to, want := range map[string]bool{
		"http://x": true, "HTTPS://x.y/a?b=c&d=(e)#f": true, "mailto:a@b": true, long: true,
		"": false, "x.y": false, "javascript:a": false, "file:///a": false, long + "a": false,
		"https://x/ y": false, "https://x\x07": false, "https://x\x7f": false, "https://x/\u00e9": false,
		"https://x\x1b": false,
		"https://x/\"":  false, "https://x/<": false, "https://x/>": false, "https://x/`": false,
		"https://x/{}": false, "https://x/|": false, "https://x/^": false, "https://x/\\": false,
	} {
		if isSafeURL(to) != want {
			t.Errorf("isSafeURL(%q) = %v, want %v", to, !want, want)
		}
		n, url := LinkSequence(linkBegin + to + linkEnd + "text")
		if ok := want || to == ""; ok != (n > 0) || ok && url != to {
			t.Errorf("link to %q: got %d bytes, URL %q", to, n, url)
		}
	}
}

func TestLinkTargetIsVisible(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"[here](https://x.y/a)", "{https://x.y/a|here} ({https://x.y/a|https://x.y/a})"},
		{"<https://x.y> <a@b.c>", "{https://x.y|https://x.y} {mailto:a@b.c|a@b.c}"},
		{"[x.y](https://x.y/a)", "{https://x.y/a|x.y} ({https://x.y/a|https://x.y/a})"},
		{"[good.com](https://evil.com)", "good.com ({https://evil.com|https://evil.com})"},
		{"[https://good.com](https://evil.com)", "https://good.com ({https://evil.com|https://evil.com})"},
		{"[a](javascript:b) [c](file:///d) [e](/f)", "a (javascript:b) c (file:///d) e (/f)"},
		{"[a](https://x/\u00e9) [b](<https://x/ y>)", "a (https://x/\u00e9) b (https://x/ y)"},
		{"[a](https://x&#27;]0;b)", "{https://x|a} ({https://x|https://x})"},
		{"[a](https://x)[b](https://y)", "{https://x|a} ({https://x|https://x}){https://y|b} ({https://y|https://y})"},
		{"![p](https://x/p.png)", "image: {https://x/p.png|p} ({https://x/p.png|https://x/p.png})"},
	} {
		lines, _ := markdown(c.in).Lines(200)
		got := tagLinks(RenderStyles(strings.Join(lines, "\n"), unstyled))
		if got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", c.in, got, c.want)
		}
	}
	lines, _ := markdown("[some words](https://x.y/a/very/long/address)").Lines(12)
	for _, line := range lines {
		if got := tagLinks(line); strings.Count(got, "{") != strings.Count(got, "}") {
			t.Errorf("unbalanced link in line %q", got)
		}
		if n := ansi.StringWidth(line); n > 12 {
			t.Errorf("line %q has %d cells, want at most 12", line, n)
		}
	}
}

func TestTableFitsWidth(t *testing.T) {
	in := "| name | what it does |\n|---|---|\n" +
		"| session | one agent and everything said with it |\n| turn | one message to its end |\n"
	got := layOut(markdown(in), 30, unstyled)
	want := []string{
		" name    │ what it does",
		" ────────┼───────────────────",
		" session │ one agent and",
		"         │ everything said",
		"         │ with it",
		" turn    │ one message to its",
		"         │ end",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	narrow := layOut(markdown(in), 8, unstyled)
	for _, line := range narrow {
		if ansi.StringWidth(line) > 8 {
			t.Errorf("line %q is wider than 8", line)
		}
	}
}

func TestDeepNestingStaysVisible(t *testing.T) {
	for _, in := range []string{strings.Repeat("> ", 2000) + "deep", strings.Repeat("- ", 2000) + "deep"} {
		lines := layOut(markdown(in), 40, unstyled)
		if !strings.Contains(strings.Join(lines, "\n"), "deep") {
			t.Fatalf("nested text is missing: %q", lines)
		}
		for _, line := range lines {
			if n := ansi.StringWidth(line); n > 40 {
				t.Fatalf("a line of %d cells: %q", n, line)
			}
		}
	}
}

func TestLongBlockIsSplit(t *testing.T) {
	p := NewMarkdown()
	var words strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&words, "word%d ", i)
	}
	p.Append(words.String())
	lines, _ := p.Lines(80)
	if open := len(p.src.String()) - p.layout.blockStart; open > maxBlockBytes {
		t.Errorf("the open block has %d bytes, want at most %d", open, maxBlockBytes)
	}
	if got := strings.Join(strings.Fields(strings.Join(lines, " ")), " "); got != strings.TrimSpace(words.String()) {
		t.Error("the lines do not contain the same words as the text")
	}
}

func FuzzStreamedMarkdownEqualsWhole(f *testing.F) {
	for _, s := range []string{
		"# t\n\na **b** c\n\n- x\n- y\n\n  z\n\n```go\ncode\n\n```\nafter",
		"1. a\n\n   b\n2. c\n\n> q\n\n| a | b |\n|--|--|\n| 1 | 2 |\n\nend",
		"~~~\n```\n~~~\n", "a\n```", "    code\n\n    more\n\ntext", "\n\n  x\n\n\ty\n\nz",
		"- a\n```\nb\n```\n- c", "&#27;[2J &#x9b;1m", "<!-- x\n\n-->\n\ny",
		"~~~go\t(\ncode",
	} {
		f.Add(s, 7, uint8(20))
		f.Add(s, 3, uint8(5))
	}
	f.Fuzz(func(t *testing.T, s string, seed int, width uint8) {
		streamed, whole := NewMarkdown(), markdown(s)
		for _, piece := range splitRandomly(s, seed) {
			streamed.Append(piece)
			streamed.Lines(int(width))
		}
		got, _ := streamed.Lines(int(width))
		want, _ := whole.Lines(int(width))
		if !slices.Equal(got, want) {
			t.Fatalf("streamed\n%q\nwhole\n%q", got, want)
		}
		for _, line := range want {
			if !utf8.ValidString(line) || strings.ContainsFunc(StripStyles(line), safetext.IsControl) {
				t.Fatalf("control character in %q", line)
			}
		}
		streamed.Close()
		whole.Close()
		got, _ = streamed.Lines(int(width))
		want, _ = whole.Lines(int(width))
		if !slices.Equal(got, want) {
			t.Fatalf("closed after streaming\n%q\nwhole\n%q", got, want)
		}
	})
}

// The cost of an append must not depend on the length of the text.
func BenchmarkStreamMarkdown(b *testing.B) {
	for _, paragraphs := range []int{10, 1_000} {
		b.Run(fmt.Sprint(paragraphs), func(b *testing.B) {
			text := "Some words of **prose**, with `code` in them.\n\n```go\nx := 1\n```\n\n"
			p := markdown(strings.Repeat(text, paragraphs))
			p.Lines(100)
			for i := 0; b.Loop(); i++ {
				p.Append("delta ")
				if i%100 == 99 {
					p.Append("\n\n")
				}
				p.Lines(100)
			}
		})
	}
}

func BenchmarkRenderMarkdown21KB(b *testing.B) {
	text := "Some words of **prose**, with `code` in them.\n\n- a list\n- of *things*\n\n```go\nx := 1\n```\n\n"
	s := strings.Repeat(text, 250)
	for b.Loop() {
		markdown(s).Lines(100)
	}
}
