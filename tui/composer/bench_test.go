package composer

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

func BenchmarkKeyInALargePaste(b *testing.B) {
	line := "some line of a file that was pasted, and is as long as lines are"
	for name, text := range map[string]string{
		"nothing":             "",
		"4000 lines":          strings.Repeat(line+"\n", 4000),
		"one line of 256 KiB": strings.Repeat(line+" ", 4000),
	} {
		b.Run(name, func(b *testing.B) {
			c := New()
			c.View(120, 8)
			c.Paste(text)
			for b.Loop() {
				c.Press(tea.KeyPressMsg{Code: 'x', Text: "x"})
				c.View(120, 8)
			}
		})
	}
}
