package output

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
)

func TestOutputLineIsTheLastLineOfText(t *testing.T) {
	text := func(parts ...string) (out []protocol.Delta) {
		for _, p := range parts {
			out = append(out, protocol.Delta{Part: "p", Kind: protocol.KindText, Text: p})
		}
		return out
	}
	long := strings.Repeat("漢", 300)
	for name, c := range map[string]struct {
		deltas []protocol.Delta
		want   string
	}{
		"nothing":           {nil, ""},
		"pieces of a line":  {text("Read", "ing ", "main.go"), "Reading main.go"},
		"the last line":     {text("a\nb", "c\n\n"), "bc"},
		"blank lines":       {text("done\n", "  \n\t\n"), "done"},
		"the next line":     {text("done\n", " ", "next"), "next"},
		"a long line":       {text(long, "x"), strings.Repeat("漢", maxLine/3)},
		"a line after it":   {text(long, "x\ny"), "y"},
		"no other deltas":   {append(text("a"), protocol.Delta{Kind: protocol.KindReasoning, Text: "\nb"}), "a"},
		"of the next part":  {append(text("a"), protocol.Delta{Part: "q", Kind: protocol.KindText, Text: "b"}), "b"},
		"Windows line ends": {text("a\r\n"), "a"},
	} {
		var o Line
		for _, d := range c.deltas {
			o.Write("t", d, time.Time{})
		}
		if got := o.String(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Agents may reuse the names of parts in each turn.
func TestOutputOfTheNextTurnIsALineOfItsOwn(t *testing.T) {
	var o Line
	for turn, text := range []string{"first", "second"} {
		o.Write(fmt.Sprint(turn), protocol.Delta{Part: "p1", Kind: protocol.KindText, Text: text}, time.Time{})
	}
	if got := o.String(); got != "second" {
		t.Errorf("the line is %q", got)
	}
}
