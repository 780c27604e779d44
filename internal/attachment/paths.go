package attachment

import (
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
)

// Limits of a paste that may name files.
const (
	maxPaste = 8 << 10 // bytes
	maxPaths = 20
)

// PastedPaths returns the absolute paths that a pasted text consists of, as terminals write the
// names of dragged and copied files: quoted, escaped or as file URLs, separated by white space. It
// returns nil for any other text.
func PastedPaths(text, home string) []string {
	if len(text) > maxPaste {
		return nil
	}
	text = strings.TrimSpace(text)
	if !strings.ContainsAny(text, `'"\`) && !strings.Contains(text, "://") && !strings.Contains(text, "\n") {
		if path, ok := absolute(text, home); ok && strings.Contains(text, " ") && strings.Count(text, " /") == 0 {
			return []string{path} // unquoted, with spaces
		}
	}
	words, ok := splitWords(text)
	if !ok || len(words) == 0 || len(words) > maxPaths {
		return nil
	}
	for i, word := range words {
		if words[i], ok = absolute(word, home); !ok {
			return nil
		}
	}
	return words
}

// absolute returns the absolute path that a word names.
func absolute(word, home string) (path string, ok bool) {
	if strings.ContainsAny(word, "\x00\n") {
		return "", false
	}
	if strings.HasPrefix(word, "file://") {
		u, err := url.Parse(word)
		if err != nil || u.Host != "" && u.Host != "localhost" {
			return "", false
		}
		path = u.Path
		if runtime.GOOS == "windows" {
			path = filepath.FromSlash(strings.TrimPrefix(path, "/"))
		}
		return path, filepath.IsAbs(path) && !strings.ContainsAny(path, "\x00\n")
	}
	if rest, below := strings.CutPrefix(word, "~/"); below && home != "" {
		word = filepath.Join(home, rest)
	}
	return word, filepath.IsAbs(word)
}

// splitWords splits a text at white space as a shell does: quotes and backslashes protect it. ok is
// false if a quote is open at the end.
func splitWords(text string) (words []string, ok bool) {
	var word strings.Builder
	inWord, escaped, quote := false, false, rune(0)
	for _, r := range text {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case quote != 0 && r == quote:
			quote = 0
		case r == '\\' && quote != '\'' && runtime.GOOS != "windows":
			inWord, escaped = true, true
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			inWord, quote = true, r
		case strings.ContainsRune(" \t\r\n", r):
			if inWord {
				words = append(words, word.String())
				word.Reset()
			}
			inWord = false
		default:
			inWord = true
			word.WriteRune(r)
		}
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, quote == 0 && !escaped
}

// MentionedPaths returns the files that a text may mention as @path or @"path", relative to dir, in
// their order and each once. A path may end before punctuation at the end of its word, so some of
// the files may not exist: each mention is a list of candidates, the longest first.
func MentionedPaths(text, dir string) (mentions [][]string) {
	seen := map[string]bool{}
	for i := 0; i < len(text); i++ {
		if text[i] != '@' || i > 0 && !strings.ContainsRune(" \t\r\n(", rune(text[i-1])) {
			continue
		}
		name := text[i+1:]
		if quoted, ok := strings.CutPrefix(name, `"`); ok {
			name, _, _ = strings.Cut(quoted, `"`)
		} else if end := strings.IndexAny(name, " \t\r\n"); end >= 0 {
			name = name[:end]
		}
		if name == "" || seen[name] || len(mentions) == maxPaths || strings.IndexByte(name, 0) >= 0 {
			continue
		}
		seen[name] = true
		var candidates []string
		for name != "" {
			path := name
			if !filepath.IsAbs(path) {
				path = filepath.Join(dir, path)
			}
			candidates = append(candidates, path)
			shorter := strings.TrimRight(name, ".,;:!?)]}'\"")
			if shorter == name {
				break
			}
			name = shorter
		}
		mentions = append(mentions, candidates)
	}
	return mentions
}

// Mentioned reads the files that a text mentions. A mention of no file is left out: it is text.
func Mentioned(text, dir string) []File {
	var out []File
	for _, candidates := range MentionedPaths(text, dir) {
		for _, path := range candidates {
			if f, err := Read(path); err == nil {
				out = append(out, f)
				break
			}
		}
	}
	return out
}
