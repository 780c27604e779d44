package policy

import (
	"path"
	"slices"
	"strings"
)

// literal are the characters that stand for themselves in a shell, besides letters and digits.
const literal = "_-./:@%+,^="

// redirections change nothing but where output goes, and are left out of commands.
var redirections = []string{"2>&1", "2>/dev/null", ">/dev/null"}

// separators are between the commands of a line, the longer ones first.
var separators = []string{"&&", "||", ";", "|"}

// splitCommands returns the commands of a line for a shell, each as its words. ok is false unless
// the line consists of literal words and quoted texts, joined by separators: everything else may
// run something that is not in it.
func splitCommands(line string) (commands [][]string, ok bool) {
	var words []string
	word, inWord := "", false
	end := func() {
		if inWord {
			words = append(words, word)
		}
		word, inWord = "", false
	}
	for line != "" {
		c := line[0]
		if r := prefixOf(line, redirections); r != "" && !inWord && endsWord(line[len(r):]) {
			line = line[len(r):]
			continue
		}
		if s := prefixOf(line, separators); s != "" {
			end()
			if len(words) == 0 || strings.HasPrefix(line, "|&") {
				return nil, false
			}
			commands, words, line = append(commands, words), nil, line[len(s):]
			continue
		}
		switch {
		case c == ' ':
			end()
			line = line[1:]
		case c == '\'' || c == '"':
			text, rest, closed := strings.Cut(line[1:], string(c))
			if !closed || !isQuotable(text, c) {
				return nil, false
			}
			word, inWord, line = word+text, true, rest
		case isLiteral(c) && (c != '=' || inWord):
			word, inWord, line = word+string(c), true, line[1:]
		default:
			return nil, false
		}
	}
	end()
	return append(commands, words), len(words) > 0
}

func prefixOf(s string, prefixes []string) string {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return p
		}
	}
	return ""
}

func endsWord(rest string) bool {
	return rest == "" || rest[0] == ' ' || prefixOf(rest, separators) != ""
}

func isLiteral(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte(literal, c) >= 0
}

// isQuotable reports whether a text in quotes stands for itself: printable ASCII, and in double
// quotes nothing that a shell expands.
func isQuotable(text string, quote byte) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' || quote == '"' && strings.IndexByte("$`\\!", text[i]) >= 0 {
			return false
		}
	}
	return true
}

// wrappers are programs that run the program in their arguments.
var wrappers = []string{
	"bash", "builtin", "command", "doas", "env", "eval", "exec", "find", "nice", "nohup", "setsid", "sh", "ssh",
	"stdbuf", "su", "sudo", "time", "timeout", "watch", "xargs", "zsh",
}

// mayRun reports whether a line may run a program with the words of a subcommand.
func mayRun(line, program string, subcommand []string) bool {
	commands, ok := splitCommands(line)
	if !ok {
		commands = [][]string{append([]string{"env"}, names(line)...)} // any of its words
	}
	return slices.ContainsFunc(commands, func(words []string) bool {
		for i, w := range words {
			if i > 0 && !slices.Contains(wrappers, path.Base(words[0])) && !strings.Contains(words[0], "=") {
				return false
			}
			for _, part := range names(w) { // a wrapper may get a line as one word
				if program != "*" && !strings.EqualFold(path.Base(part), program) {
					continue
				}
				if containsWords(words[i:], subcommand) || containsWords(names(w), subcommand) {
					return true
				}
			}
		}
		return false
	})
}

// names returns the parts of a text that may be names of programs or files.
func names(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r > '~' || !isLiteral(byte(r)) || r == '=' })
}

// containsWords reports whether some words follow each other.
func containsWords(words, some []string) bool {
	for i := 0; i+len(some) <= len(words); i++ {
		if slices.Equal(words[i:i+len(some)], some) {
			return true
		}
	}
	return false
}
