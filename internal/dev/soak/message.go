package soak

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// The kinds of messages, by what they make an agent do.
const (
	kindWork  = "work"  // text
	kindAsk   = "ask"   // text with an approval
	kindCrash = "crash" // text, then the agent fails
)

// Numbers of deltas of a turn, and of one whose agent fails in it.
const (
	turnDeltas  = 20
	crashDeltas = 7
)

// script is the script of the script agents. A text begins with its message, so that it shows which
// text is the right one.
var script = fmt.Sprintf(`
{"on":"crash"}
{"say":"<{message}> "}
{"burst":%d,"delay":"20ms"}
{"fail":"the agent fails"}
{"on":"ask"}
{"say":"<{message}> "}
{"burst":%[2]d,"delay":"20ms"}
{"ask":"command","command":"make {n}","then":[{"say":"yes "}],"else":[{"say":"no "}]}
{"say":"end"}
{"on":"*"}
{"say":"<{message}> "}
{"burst":%[2]d,"delay":"20ms"}
{"say":"end"}
`, crashDeltas, turnDeltas)

// prompt returns the message for the agent that speaks ACP, which does the same.
func prompt(text string) string {
	kind, _, _ := strings.Cut(text, " ")
	switch kind {
	case kindCrash:
		return fmt.Sprintf("say <%s> \nburst %d\nexit 3", text, crashDeltas)
	case kindAsk:
		return fmt.Sprintf("say <%s> \nburst %d\nask %s\nsay end", text, turnDeltas,
			`{"toolCallId":"t","title":"make","kind":"execute"}`)
	}
	return fmt.Sprintf("say <%s> \nburst %d\nsay end", text, turnDeltas)
}

// Outcomes of a request in the text: of the script, and of the ACP agent, which also continues
// after an interrupt.
var outcomes = []string{"yes", "selectedopt-0-allow_once", "cancelled"}

// tokenPattern matches the name of a message: its sender's name, and a number.
var tokenPattern = regexp.MustCompile(`k\d+\.\d+`)

func newToken(sender string, n int) string { return fmt.Sprintf("%s.%d", sender, n) }

// tokenOf returns the first token in a text, or "".
func tokenOf(text string) string { return tokenPattern.FindString(text) }

func senderOf(token string) string {
	sender, _, _ := strings.Cut(token, ".")
	return sender
}

// greeting matches the first words of a text, and cutGreeting the beginning of them.
var (
	greeting    = regexp.MustCompile(`^<(work|ask|crash)k\d+\.\d+>`)
	cutGreeting = regexp.MustCompile(`^<((work|ask|crash)(k[\d.]*)?)?$`)
)

// checkText compares the text of a turn with what its agent writes: it is complete, or the
// beginning of it, or there is an error. White space does not count: not every dialect keeps the
// borders of parts.
func checkText(text string) (complete bool, err error) {
	got := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
	if got == "" {
		return false, nil
	}
	m := greeting.FindStringSubmatch(got)
	switch {
	case m == nil && cutGreeting.MatchString(got):
		return false, nil
	case m == nil:
		return false, fmt.Errorf("the text is %q, which lacks its first words", text)
	}
	var want []string
	switch m[1] {
	case kindWork:
		want = []string{m[0] + numbers(turnDeltas) + "end"}
	case kindAsk:
		for _, outcome := range outcomes {
			want = append(want, m[0]+numbers(turnDeltas)+outcome+"end")
		}
	case kindCrash: // never complete
		want = []string{m[0] + numbers(crashDeltas) + "end"}
	}
	for _, w := range want {
		if strings.HasPrefix(w, got) {
			return got == w, nil
		}
	}
	return false, fmt.Errorf("the text is %q, which lacks or repeats something", text)
}

// numbers returns the text of n deltas without white space.
func numbers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprint(&b, i)
	}
	return b.String()
}
