package protocol

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestParseQuery(t *testing.T) {
	for query, want := range map[string][]string{
		"cache":                 {"cache"},
		"  Cache\tKEY \n":       {"Cache", "KEY"},
		"key key":               {"key"},
		`"cache key" miss`:      {"cache key", "miss"},
		`"two  spaces"`:         {"two  spaces"},
		`say "hi`:               {"say", `"hi`},
		`a"b c"d`:               {`a"b`, `c"d`},
		`"" x`:                  {"x"},
		"\u00a0x\u3000y":        {"x", "y"},
		"kelvin ſtraße":         {"kelvin", "straße"},
		"ΣΊΣΥΦΟΣ":               {"ΣΊΣΥΦΟΣ"},
		"漢字 emoji👩‍👩‍👧":         {"漢字", "emoji👩‍👩‍👧"},
		strings.Repeat("x ", 9): {"x"},
	} {
		q, err := ParseQuery(query)
		if err != nil {
			t.Errorf("%q: %v", query, err)
			continue
		}
		var got []string
		for _, w := range q.words {
			got = append(got, string(w))
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %q, want %q", query, got, want)
		}
	}
	for _, query := range []string{strings.Repeat("x", maxQuery), "a b c d e f g h i j k l m n o p"} {
		if q, err := ParseQuery(query); err != nil || q.String() != query {
			t.Errorf("%.20q: %v, %v", query, q, err)
		}
	}
	for _, query := range []string{
		"", " \n", `""`, strings.Repeat("x", maxQuery+1),
		"a b c d e f g h i j k l m n o p q",
	} {
		if _, err := ParseQuery(query); CodeOf(err) != CodeInvalidMessage {
			t.Errorf("%.20q: %v", query, err)
		}
	}
}

func TestAQueryCountsItsRarestWord(t *testing.T) {
	for _, tt := range []struct {
		query, text string
		want        int
	}{
		{"key", "a key, KEYS and a monKey", 3},
		{"aa", "aaaaa", 2},
		{"cache key", "key cache KEY key", 1},
		{"cache key", "key", 0},
		{`"a b"`, "a\nb a\tb a b", 3},
		{"k", "k K \u212A", 3},
		{"Key", "a Key, KEYS and a monkey", 1},
		{"Key lost", "Key LOST", 0},
		{`"A b"`, "A\nb a\tb A b A B", 2},
		{"漢", "漢字 漢", 2},
		{"x", "", 0},
	} {
		q, err := ParseQuery(tt.query)
		if err != nil {
			t.Fatal(err)
		}
		if got := q.Count(tt.text); got != tt.want {
			t.Errorf("%q in %q: %d, want %d", tt.query, tt.text, got, tt.want)
		}
		if (tt.want > 0) != q.Match(tt.text) {
			t.Errorf("%q in %q: counted %d, but In says otherwise", tt.query, tt.text, tt.want)
		}
	}
}

func TestAQueryMarksItsWords(t *testing.T) {
	for _, tt := range []struct{ query, text, want string }{
		{"key", "a key, KEYS and a monKey", "a [key], [KEY]S and a mon[Key]"},
		{"ab bc", "xabcx", "x[abc]x"},
		{"aa", "aaaa", "[aaaa]"},
		{"k", "20 \u212A, k", "20 [\u212A], [k]"},
		{"straße", "ſtraße STRAẞE", "[ſtraße] [STRAẞE]"},
		{"漢", "漢字 漢", "[漢]字 [漢]"},
		{`"a b"`, "a\nb a\tb a b", "[a\nb] [a\tb] [a b]"},
		{"x", "\xffX\xff", "\xff[X]\xff"},
		{"\x9d", "\u017f\x9d\u061d", "\u017f\x9d\u061d"},
		{"none", "nothing", "nothing"},
		{"b a", "a b a", "[a] [b] [a]"},
		{"bc abc b", "abcd b", "[abc]d [b]"},
		{"long g", "g long", "[g] [long]"},
		{"x", "\u212A x \u212Ax", "\u212A [x] \u212A[x]"},
		{"x", "\u212A\xffx", "\u212A\xff[x]"},
		{"x y", "Zx\vy\bx", "Z[x]\v[y]\b[x]"},
		{"@a[ `z{", "@A[ `Z{", "[@A[] [`Z{]"},
		{"Key", "a Key, KEYS and a monkey", "a [Key], KEYS and a monkey"},
		{"X", "\u212A\xffxX", "\u212A\xffx[X]"},
		{`"A b"`, "a b A\nb", "a b [A\nb]"},
	} {
		q, err := ParseQuery(tt.query)
		if err != nil {
			t.Fatal(err)
		}
		spans := q.Spans(tt.text)
		if got := marked(tt.text, spans); got != tt.want {
			t.Errorf("%q in %q: %q, want %q", tt.query, tt.text, got, tt.want)
		}
		first := q.Index(tt.text)
		if len(spans) == 0 && first >= 0 || len(spans) > 0 && first != spans[0].From {
			t.Errorf("%q in %q: first at %d, spans %v", tt.query, tt.text, first, spans)
		}
	}
}

func marked(text string, spans []Span) string {
	var b strings.Builder
	at := 0
	for _, s := range spans {
		b.WriteString(text[at:s.From] + "[" + text[s.From:s.To] + "]")
		at = s.To
	}
	return b.String() + text[at:]
}

func FuzzQuery(f *testing.F) {
	for _, seed := range [][2]string{
		{"cache key", "the Cache KEY"}, {`"a b" c`, "A\nB C"}, {`"`, `"`}, {"\u212A", "k"}, {"ẞ", "ß"}, {
			"\xff",
			"\xff\xfe",
		}, {"\x9d", "\u017f\x9d\u061d"}, {"İ", "i̇"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, query, text string) {
		q, err := ParseQuery(query)
		if err != nil {
			if CodeOf(err) != CodeInvalidMessage {
				t.Fatalf("%q: %v", query, err)
			}
			return
		}
		if len(q.words) == 0 || len(q.words) > maxWords {
			t.Fatalf("%q has %d words", query, len(q.words))
		}
		last := 0
		spans := q.Spans(text)
		for _, s := range spans {
			if s.From < last || s.To <= s.From || s.To > len(text) {
				t.Fatalf("%q in %q: %v", query, text, spans)
			}
			last = s.To
			if utf8.ValidString(text) && utf8.ValidString(query) && !utf8.ValidString(text[s.From:s.To]) {
				t.Fatalf("%q in %q cuts a rune: %v", query, text, s)
			}
		}
		if first := q.Index(text); (first >= 0) != (len(spans) > 0) || first >= 0 && first != spans[0].From {
			t.Fatalf("%q in %q: first at %d, spans %v", query, text, first, spans)
		}
		if q.Match(text) && len(spans) == 0 {
			t.Fatalf("%q is in %q, nowhere", query, text)
		}
		if utf8.ValidString(query) && !q.Match(query) && !strings.Contains(query, `"`) {
			t.Fatalf("%q is not in itself", query)
		}
		if utf8.ValidString(text) && !q.exact && q.Match(text) != q.Match(swapCase(text)) {
			t.Fatalf("%q in %q depends on case", query, text)
		}
		if before, _ := foldCase(nil, text); !bytes.Equal(before, refold(before)) {
			t.Fatalf("folding %q twice changes it", text)
		}
	})
}

func refold(b []byte) []byte {
	again, _ := foldCase(nil, string(b))
	return again
}

// swapCase gives every letter another case.
func swapCase(s string) string { return strings.Map(unicode.SimpleFold, s) }
