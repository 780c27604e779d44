package composer

import (
	"testing"

	tea "charm.land/bubbletea/v2"
)

// typeText presses a key for each rune.
func typeText(c *Composer, text string) {
	for _, r := range text {
		c.Press(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

func TestDeletedTextIsInsertedAgain(t *testing.T) {
	for _, k := range []struct {
		key        tea.KeyPressMsg
		left, back string
	}{
		{tea.KeyPressMsg{Code: 'w', Mod: tea.ModCtrl}, "one ", "one two"},
		{tea.KeyPressMsg{Code: 'u', Mod: tea.ModCtrl}, "", "one two"},
		{tea.KeyPressMsg{Code: tea.KeyBackspace, Mod: tea.ModAlt}, "one ", "one two"},
	} {
		c := New()
		typeText(&c, "one two")
		c.Press(k.key)
		if c.Text() != k.left {
			t.Errorf("%s leaves %q, want %q", k.key, c.Text(), k.left)
		}
		c.Press(tea.KeyPressMsg{Code: 'y', Mod: tea.ModCtrl})
		if c.Text() != k.back {
			t.Errorf("%s and ctrl+y give %q, want %q", k.key, c.Text(), k.back)
		}
	}
	c := New()
	typeText(&c, "one two")
	c.Press(tea.KeyPressMsg{Code: 'a', Mod: tea.ModCtrl})
	c.Press(tea.KeyPressMsg{Code: 'k', Mod: tea.ModCtrl})
	c.Press(tea.KeyPressMsg{Code: 't', Mod: tea.ModCtrl})
	typeText(&c, "x")
	c.Press(tea.KeyPressMsg{Code: 'y', Mod: tea.ModCtrl})
	c.Press(tea.KeyPressMsg{Code: 'b', Mod: tea.ModAlt})
	c.Press(tea.KeyPressMsg{Code: 'd', Mod: tea.ModAlt})
	if got := c.Text(); got != "xone " {
		t.Errorf("got %q", got)
	}
}
