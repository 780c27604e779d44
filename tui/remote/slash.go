package remote

import (
	"slices"
	"strings"

	"agentctl/tui/keymap"
)

// ownWords are the words that belong to agentctl after a slash, in every client, in addition to the
// commands of a session's screen. An agent's command of the same name is typed with two slashes: no
// agent can take a word that decides.
var ownWords = []string{
	"always", "answer", "approve", "deny", "edit", "explain", "find", "help", "hold", "interrupt", "keep", "move",
	"now", "option", "queue", "quit", "release", "remove", "replan", "retry", "revoke", "rules", "status", "stop",
}

// IsOwnWord reports whether a name, with or without its slash, belongs to agentctl.
func IsOwnWord(name string) bool {
	name = strings.ToLower(strings.TrimPrefix(name, "/"))
	c, ok := keymap.CommandNamed(name)
	return ok && c.Screens&keymap.OnSession != 0 || slices.Contains(ownWords, name)
}

// SlashMessage returns the message that a typed text stands for: after two slashes and a word of
// agentctl one slash is removed. own is the word if the text is a command of agentctl instead.
func SlashMessage(text string) (message, own string) {
	word, _, _ := strings.Cut(strings.TrimLeft(text, "/"), " ")
	word, _, _ = strings.Cut(word, "\n")
	switch {
	case !strings.HasPrefix(text, "/") || !IsOwnWord(word):
		return text, ""
	case strings.HasPrefix(text, "//"):
		return text[1:], ""
	}
	return "", word
}

// SlashCommand returns the command of an agent as it is typed.
func SlashCommand(name string) string {
	name = strings.TrimPrefix(name, "/")
	if IsOwnWord(name) {
		return "//" + name
	}
	return "/" + name
}
