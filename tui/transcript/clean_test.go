package transcript

import (
	"strings"
	"testing"
	"unicode/utf8"

	"agentctl/internal/safetext"
)

func TestClean(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"text", "plain ünï 漢字 👩‍🚀\n\tx", "plain ünï 漢字 👩‍🚀\n\tx"},
		{"colour", "\x1b[31mred\x1b[0m", "red"},
		{"title", "a\x1b]0;owned\x07b", "ab"},
		{"clipboard ended by ST", "a\x1b]52;c;aGk=\x1b\\b", "ab"},
		{"8-bit CSI", "a\u009b31mb", "ab"},
		{"8-bit OSC", "a\u009d0;owned\u009cb", "ab"},
		{"device control", "a\x1bP$q\"p\x1b\\b", "ab"},
		{"unfinished title ends with its line", "a\x1b]0;owned\nb", "a\nb"},
		{"unfinished control string", "\x1b]0;" + strings.Repeat("x", maxControlString-2) + "shown", "shown"},
		{"sequence inside a sequence", "\x1b[3\x1b[1mx", "x"},
		{"charset", "\x1b(0x", "x"},
		{"bell and backspace", "a\a\bb\x00\x7f", "ab"},
		{"line ends", "a\r\nb\rc\u2028d", "a\nb\nc\nd"},
		{"bidi override", "a\u202eb\u2066c", "abc"},
		{"invalid UTF-8", "a\xff\xfeb", "a\ufffd\ufffdb"},
		{"combining marks without a base", "\u0301a\t\ufe0fb\n\u200dc", "a\tb\nc"},
		{
			"too many combining marks", "e" + strings.Repeat("\u0301", 1000),
			"e" + strings.Repeat("\u0301", maxZeroWidth),
		},
	} {
		if got := Clean(c.in); got != c.want {
			t.Errorf("%s: Clean(%q) = %q, want %q", c.name, c.in, got, c.want)
		}
	}
}

func TestReveal(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"ls -l\n\tx", "ls -l\n\tx"},
		{"ls\x1b]0;x\x07", "ls␛]0;x␇"},
		{"ls\rrm", "ls␍rm"},
		{"a\u202eb", "a‹U+202E›b"},
		{"a\u200bb", "a‹U+200B›b"},
		{"a\U000e0041b", "a‹U+E0041›b"},
		{"a\u0085\x7f", "a‹U+0085›␡"},
		{"r\u200dm a\ufe0f", "r‹U+200D›m a‹U+FE0F›"},
		{"a\u3164b\u034fc\U000e0100", "a‹U+3164›b‹U+034F›c‹U+E0100›"},
		{"⚠\ufe0f 👩\u200d👩\u200d👦 ❤\ufe0f\u200d🔥 👋🏽", "⚠\ufe0f 👩\u200d👩\u200d👦 ❤\ufe0f\u200d🔥 👋🏽"},
		{"⚠\ufe0f\ufe0f👩\u200d\u200d👦👩\u200d", "⚠\ufe0f‹U+FE0F›👩‹U+200D›‹U+200D›👦👩‹U+200D›"},
	} {
		if got := Reveal(c.in); got != c.want {
			t.Errorf("Reveal(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{
		"a\x1b[31mb", "\x1b]8;;http://x\x1b\\y\x1b]8;;\x07", "\u009b1m\r\r\n\xff", "\x1bP\x1b\x1b[",
		"\u202e\u2029",
	} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, s string, cut int) {
		for name, got := range map[string]string{"Clean": Clean(s), "Reveal": Reveal(s)} {
			if !utf8.ValidString(got) {
				t.Fatalf("%s(%q) is not UTF-8", name, s)
			}
			for _, r := range got {
				if r != '\n' && r != '\t' && safetext.IsControl(r) {
					t.Fatalf("%s(%q) keeps %U", name, s, r)
				}
			}
		}
		pieces, whole := splitRandomly(s, cut), Clean(s)
		var c Cleaner
		var joined strings.Builder
		for _, p := range pieces {
			joined.WriteString(c.Clean(p))
		}
		if joined.String() != whole {
			t.Fatalf("cleaned in parts %q: %q, whole: %q", pieces, joined.String(), whole)
		}
	})
}

// splitRandomly splits s between runes into parts whose lengths depend on seed.
func splitRandomly(s string, seed int) []string {
	var pieces []string
	for s != "" {
		seed = seed*1103515245 + 12345
		n := 0
		for range 1 + (seed>>16)&7 {
			_, size := utf8.DecodeRuneInString(s[n:])
			n += size
		}
		pieces = append(pieces, s[:n])
		s = s[n:]
	}
	return pieces
}
