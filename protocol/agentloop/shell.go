package agentloop

import (
	"path"
	"strings"
)

// splitCommand returns a command as words. What is shown is what runs, so any command except plain
// words is passed to a shell. joinCommand is its inverse.
func splitCommand(command string) []string {
	words := strings.Fields(command)
	if len(words) > 0 && !strings.Contains(words[0], "=") && joinCommand(words) == command {
		return words
	}
	return []string{"bash", "-lc", command}
}

// joinCommand returns the shell command of words.
func joinCommand(words []string) string {
	if len(words) == 3 && isShell(words[0]) && (words[1] == "-lc" || words[1] == "-c") {
		return words[2]
	}
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(w)
	}
	return strings.Join(quoted, " ")
}

func isShell(word string) bool {
	switch path.Base(word) {
	case "sh", "bash", "zsh":
		return true
	}
	return false
}

func quote(word string) string {
	special := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') &&
			!strings.ContainsRune("-_./:=@%+,", r)
	}
	if word != "" && strings.IndexFunc(word, special) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
