package arguments

import (
	"errors"
	"runtime"
	"strings"
)

// quote returns the command line that runs a program with arguments. A single word is the command line.
func quote(words []string) (string, error) {
	if len(words) == 1 {
		return words[0], nil
	}
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = word
		if word != "" && !strings.ContainsFunc(word, special) && (i > 0 || !strings.Contains(word, "=")) {
			continue
		}
		if runtime.GOOS == "windows" || strings.ContainsRune(word, 0) {
			return "", errors.New("give the command as one text, not as a list")
		}
		quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return strings.Join(quoted, " "), nil
}

// special reports whether a shell may read a character in another way than as itself.
func special(r rune) bool {
	letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	return !letter && !strings.ContainsRune("_-./:,+=@", r)
}
