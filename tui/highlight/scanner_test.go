package highlight

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	_ "agentctl/internal/dev/golden" // the flag -update
)

// tagTokens returns a text with its tokens in <kind:text> tags.
func tagTokens(l *Language, text string) string {
	names := []byte(".csnktfKM#+-")
	var out strings.Builder
	s := l.NewScanner()
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			out.WriteByte('\n')
		}
		at := 0
		for _, t := range s.Scan(line, nil) {
			fmt.Fprintf(&out, "%s<%c:%s>", line[at:t.From], names[t.Kind], line[t.From:t.To])
			at = t.To
		}
		out.WriteString(line[at:])
	}
	return out.String()
}

func TestTokens(t *testing.T) {
	for _, c := range []struct{ language, in, want string }{
		{
			"go", "func f(x int) string { return \"a\\\"b\" + `c` } // d",
			"<k:func> <f:f>(x <t:int>) <t:string> { <k:return> <s:\"a\\\"b\"> + <s:`c`> } <c:// d>",
		},
		{"go", "/* a\nb */ x := 'q' + 0x1f + 1.5e-3", "<c:/* a>\n<c:b */> x := <s:'q'> + <n:0x1f> + <n:1.5e-3>"},
		{"go", "s := `a\nfunc`\nvar x", "s := <s:`a>\n<s:func`>\n<k:var> x"},
		{"go", "x.range, y := nil, don't", "x.range, y := <n:nil>, don't"},
		{
			"python", "@wraps\ndef f(a):\n  '''doc\n  more''' # c\n  return None",
			"<M:@wraps>\n<k:def> <f:f>(a):\n  <s:'''doc>\n<s:  more'''> <c:# c>\n  <k:return> <n:None>",
		},
		{"rust", "fn f<'a>(x: &'a str) -> char { 'x' }", "<k:fn> f<'a>(x: &'a <t:str>) -> <t:char> { <s:'x'> }"},
		{"rust", "/* a /* b */ c */ let", "<c:/* a /* b */ c */> <k:let>"},
		{
			"bash", "for x in \"$A\"; do # go\n echo ${B}#c 'd\ne' $F; done",
			"<k:for> x <k:in> <s:\"$A\">; <k:do> <c:# go>\n <t:echo> <M:${B}>#c <s:'d>\n<s:e'> <M:$F>; <k:done>",
		},
		{"sh", "git push v1.4.0 8080 -n=20", "<t:git> push v1.4.0 <n:8080> -n=<n:20>"},
		{"console", "$ echo 'a\nI don't know\n$ ls # c", "<M:$> <t:echo> <s:'a>\nI don't know\n<M:$> <t:ls> <c:# c>"},
		{"json", `{"a": [1, -2.5e+3, true], "b": "c"}`, `{<K:"a">: [<n:1>, -<n:2.5e+3>, <n:true>], <K:"b">: <s:"c">}`},
		{
			"yaml", "a.b: 1 # c\n- d: 'e'\n  f: 2024-01-01\n---",
			"<K:a.b>: <n:1> <c:# c>\n- <K:d>: <s:'e'>\n  <K:f>: 2024-01-01\n<M:--->",
		},
		{"toml", "[a.b]\nc = \"d\" # e", "<#:[a.b]>\n<K:c> = <s:\"d\"> <c:# e>"},
		{"sql", "SELECT * FROM t WHERE a = 'x' -- y", "<k:SELECT> * <k:FROM> t <k:WHERE> a = <s:'x'> <c:-- y>"},
		{
			"html", "<a href=\"x\" b>t</a> <!-- c\nd --> e",
			"<k:<a> <K:href>=<s:\"x\"> <K:b><k:>>t<k:</a><k:>> <c:<!-- c>\n<c:d -->> e",
		},
		{"diff", "--- a\n+b\n-c\n d\n@@ -1 +1 @@", "<#:--- a>\n<+:+b>\n<-:-c>\n d\n<c:@@ -1 +1 @@>"},
		{"md", "# t\n- a `b`\n> q", "<#:# t>\n<k:-> a <s:`b`>\n<c:> q>"},
		{"dockerfile", "FROM go AS b\nRUN from", "<k:FROM> go AS b\n<k:RUN> from"},
		{"css", "a { color: red; } /* b */", "a { <K:color>: red; } <c:/* b */>"},
		{"c", "#include <x>\nint main(void)", "<M:#include> <x>\n<t:int> <f:main>(<t:void>)"},
		{"c", "#endif /* a\nb */ int", "<M:#endif> <c:/* a>\n<c:b */> <t:int>"},
		{
			"perl", "=head1 A\n\nif\n\n=cut\nmy $x = $#y; # z",
			"<c:=head1 A>\n\n<c:if>\n\n<c:=cut>\n<k:my> <M:$x> = $#y; <c:# z>",
		},
		{"brainfuck", "func x", "func x"},
	} {
		if got := tagTokens(ByName(c.language), c.in); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.language, got, c.want)
		}
	}
}

func TestLanguageLookup(t *testing.T) {
	for name, of := range map[string]*Language{
		"go": ByFilename("/x/main.go"), "TS": ByFilename("a.ts"), "{.python}": ByFilename(`C:\x\y.PY`),
		"make": ByFilename("src/Makefile"), "docker": ByFilename("Dockerfile"),
		"json": ByFilename("package.json"),
	} {
		if of == nil || ByName(name) != of {
			t.Errorf("ByName(%q) differs from ByFilename", name)
		}
	}
	if ByName("") != nil || ByFilename("") != nil || ByFilename("README") != nil {
		t.Error("found a language for an unknown name")
	}
}

func TestLanguageNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, l := range allLanguages() {
		if len(l.spans) > 64 {
			t.Errorf("%s: %d spans, want at most 64", l.names, len(l.spans))
		}
		for _, name := range strings.Fields(l.names) {
			if seen[name] {
				t.Errorf("name %s occurs twice", name)
			}
			seen[name] = true
		}
		for _, name := range strings.Fields(l.files) {
			if seen["file "+name] {
				t.Errorf("file %s occurs twice", name)
			}
			seen["file "+name] = true
		}
	}
}

// The inputs include ones that are slow for matchers that backtrack: of 32 KiB a quadratic scan
// takes about a thousand times as long as a linear one.
func TestScanCostIsLinear(t *testing.T) {
	const size, tolerance, attempts = 32 << 10, 100, 20 // attempts: other programs take time too
	scan := func(l *Language, text string) time.Duration {
		began := time.Now()
		s := l.NewScanner()
		for line := range strings.SplitSeq(text, "\n") {
			s.Scan(line, nil)
		}
		return time.Since(began)
	}
	golang, words := ByName("go"), strings.Repeat("word ", size/len("word "))
	for _, piece := range []string{
		"a", `"`, `"\`, "'", "(", "/", "<a ", "${", " ", "a::", "\n \t", "/*", "`", "'\\", "漢", "=", "- ",
		"<!--", "[[", "a ",
	} {
		text := strings.Repeat(piece, size/len(piece))
		for _, l := range allLanguages() {
			took, linear := scan(l, text), scan(golang, words)
			for i := 1; i < attempts && took > tolerance*linear; i++ {
				took, linear = min(took, scan(l, text)), max(linear, scan(golang, words))
			}
			if took > tolerance*linear {
				t.Errorf("%s: %q: %s for %d bytes, %s for words", l.names, piece, took, len(text), linear)
			}
		}
	}
}

func FuzzTokens(f *testing.F) {
	for _, s := range []string{
		"func f() {\n/* a\n*/ \"x\\", "<a b='c\n-->", "a: |\n  'b", "$x @y #z", "r#\"a\"# '\\u{1}'",
		"`a`\n```b", "漢字 = \"é\"", "\xff'\xff'",
	} {
		f.Add(s)
	}
	all := allLanguages()
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "\ufffd")
		for _, l := range all {
			s := l.NewScanner()
			for line := range strings.SplitSeq(text, "\n") {
				ahead := s
				tokens := s.Scan(line, nil)
				if !slices.Equal(tokens, ahead.Scan(line, nil)) || ahead != s {
					t.Fatalf("%s: a copy of the scanner scans %q differently", l.names, line)
				}
				at := 0
				for _, tok := range tokens {
					if tok.From < at || tok.To <= tok.From || tok.To > len(line) || tok.Kind == Plain {
						t.Fatalf("%s: tokens of %q: %v", l.names, line, tokens)
					}
					if !utf8.ValidString(line[tok.From:tok.To]) {
						t.Fatalf("%s: a token splits a rune of %q: %v", l.names, line, tokens)
					}
					at = tok.To
				}
			}
		}
	})
}

func BenchmarkGo(b *testing.B) {
	source := "func (s *Session) run(ctx context.Context) error {\n" +
		"\tif x := \"a string\"; len(x) > 10 { // why\n\t\treturn nil\n\t}\n}\n"
	text := strings.Split(strings.Repeat(source, 200), "\n")
	n := 0
	for _, line := range text {
		n += len(line) + 1
	}
	b.SetBytes(int64(n))
	var out []Token
	for b.Loop() {
		s := ByName("go").NewScanner()
		for _, line := range text {
			out = s.Scan(line, out[:0])
		}
	}
}
