package approval

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"agentctl/internal/safetext"
	"agentctl/tui/transcript"
)

// The longest runs of spaces and of tabs that are drawn as such.
const (
	maxSpaces = 32
	maxTabs   = 8
)

// revealLines returns the lines of an untrusted text with everything that is in them visible. Runs
// of blank lines and long runs of spaces and tabs are replaced by their count. In a text that runs,
// tabs are marked, and letters that look like others are replaced by their code points.
func revealLines(text string, runs bool) []string {
	text = transcript.Reveal(strings.TrimRight(text, "\n"))
	if runs {
		text = revealRunes(text)
	}
	var out []string
	blank := 0
	flush := func() {
		switch {
		case blank == 1:
			out = append(out, "")
		case blank > 1:
			out = append(out, fmt.Sprintf("‹%d blank lines›", blank))
		}
		blank = 0
	}
	for line := range strings.SplitSeq(text, "\n") {
		if strings.TrimSpace(line) == "" {
			blank++
			continue
		}
		flush()
		out = append(out, countSpaces(expandTabs(line, runs)))
	}
	flush()
	return out
}

// expandTabs replaces tabs by spaces up to the next multiple of 4, the first of them by a mark if
// marked is set, and each long run of tabs by its count.
func expandTabs(line string, marked bool) string {
	if !strings.Contains(line, "\t") {
		return line
	}
	first := ' '
	if marked {
		first = '␉'
	}
	var out strings.Builder
	column := 0
	write := func(text string) {
		out.WriteString(text)
		column += utf8.RuneCountInString(text)
	}
	for line != "" {
		rest := strings.TrimLeft(line, "\t")
		if n := len(line) - len(rest); n > maxTabs {
			write(fmt.Sprintf("‹%d tabs›", n))
		} else {
			for range n {
				write(string(first) + strings.Repeat(" ", 3-column%4))
			}
		}
		word, _, _ := strings.Cut(rest, "\t")
		write(word)
		line = rest[len(word):]
	}
	return out.String()
}

// longSpaces matches runs of spaces that are not drawn as such.
var longSpaces = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(fmt.Sprintf(" {%d,}", maxSpaces+1))
})

// countSpaces replaces each long run of spaces by its count.
func countSpaces(line string) string {
	return longSpaces().ReplaceAllStringFunc(line, func(run string) string {
		return fmt.Sprintf("‹%d spaces›", len(run))
	})
}

// revealRunes replaces runes that look like nothing, like a space or like an ASCII letter by their
// code points.
func revealRunes(text string) string {
	isASCII := strings.IndexFunc(text, func(r rune) bool { return r >= 0x80 }) < 0
	if isASCII {
		return text
	}
	var out strings.Builder
	for i, word := range splitWords(text) {
		reveal := i%2 == 0 && looksLatin(word)
		for _, r := range word {
			if reveal && isLookAlike(r) || safetext.IsBlank(r) || isJoined(r) || strings.ContainsRune(lookAlikeMarks, r) {
				fmt.Fprintf(&out, "‹U+%04X›", r)
				continue
			}
			out.WriteRune(r)
		}
	}
	return out.String()
}

// isJoined reports whether r is drawn as a part of the character before it.
func isJoined(r rune) bool {
	return r >= 0x300 && unicode.In(r, unicode.Mn, unicode.Me) || r == '\u200d' || r == '\ufe0f'
}

// splitWords splits a text into its words, at even indexes, and the texts between them.
func splitWords(text string) []string {
	var out []string
	isWord := true
	start := 0
	for i, r := range text {
		if letter := unicode.In(r, unicode.L, unicode.M, unicode.N); letter != isWord {
			out = append(out, text[start:i])
			isWord, start = letter, i
		}
	}
	return append(out, text[start:])
}

// looksLatin reports whether a word may be taken for an ASCII word: all its letters are ASCII
// letters or look like one.
func looksLatin(word string) bool {
	ascii := false
	for _, r := range word {
		switch {
		case r < 0x80:
			ascii = ascii || unicode.IsLetter(r)
		case !isLookAlike(r) && unicode.In(r, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee):
			return ascii // a word of two alphabets is no word
		}
	}
	return true
}

// lookAlikes are letters of other alphabets that look like an ASCII letter or digit.
const lookAlikes = "аеорсухіїјѕһԁԛԝӏѵ" + "АВЕКМНОРСТУХІЇЈЅҺԌԚԜӀѴЗЬ" +
	"αβγεικνορτυχωϲϳ" + "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹϺ" + "օոսցհլզկ" + "ՕՍԼՏ" + "ꓐꓑꓒꓓꓔꓖꓗꓙꓚꓝꓟꓠꓡꓢꓣꓤꓥꓦꓧꓨꓩꓪꓬꓮꓰꓲꓳꓴ" +
	"ɑɡıȷɩʟʀʏʙɢɪɴꜱᴀᴄᴅᴇᴊᴋᴍᴏᴘᴛᴜᴠᴡᴢſꞁǀǃ"

// lookAlikeMarks are characters that look like ASCII punctuation.
const lookAlikeMarks = "⁄∕∖∣∶﹨‐‑‒–−⁃＂＇‚․"

// isLookAlike reports whether r looks like an ASCII character and is another one.
func isLookAlike(r rune) bool {
	switch {
	case r < 0x80:
		return false
	case r >= 0x13a0 && r <= 0x13f4, // Cherokee
		r >= 0xff01 && r <= 0xff5e,   // full width
		r >= 0x1d400 && r <= 0x1d7ff, // mathematical
		r >= 0x2100 && r <= 0x214f && unicode.IsLetter(r), r >= 0x2160 && r <= 0x217f:
		return true
	}
	return strings.ContainsRune(lookAlikes, r)
}
