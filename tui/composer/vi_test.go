package composer

import (
	"strings"
	"testing"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
)

// pressAll presses keys: one for each rune, with < for esc and ~ for enter in the text.
func pressAll(c *Composer, keys string) {
	for _, r := range keys {
		switch r {
		case '<':
			c.LeaveInsert()
		case '~':
			c.Press(tea.KeyPressMsg{Code: 'j', Mod: tea.ModCtrl})
		default:
			c.Press(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	}
}

// withCursor returns the text with | before the cursor.
func (c *Composer) withCursor() string {
	at := c.area.cursor()
	return c.Text()[:at] + "|" + c.Text()[at:]
}

func TestViKeys(t *testing.T) {
	for _, c := range []struct{ typed, keys, want string }{
		{"one two", "", "one two|"},
		{"one two", "<", "one tw|o"},
		{"one two", "<0", "|one two"},
		{"one two", "<h", "one t|wo"},
		{"one two", "<0l", "o|ne two"},
		{"one two", "<0lll" + "llllllll", "one tw|o"},
		{"one two", "<0w", "one |two"},
		{"one two", "<b", "one |two"},
		{"one two", "<0e", "on|e two"},
		{"one two", "<0ee", "one tw|o"},
		{"a.b", "<0w", "a|.b"},
		{"  one", "<^", "  |one"},
		{"one two", "<0$", "one tw|o"},
		{"one two", "<x", "one t|w"},
		{"one two", "<X", "one t|o"},
		{"one two", "<bD", "one| "},
		{"one two", "<0Cthree", "three|"},
		{"one two", "<0cwfour", "four| two"},
		{"one two", "<0dw", "|two"},
		{"one two", "<wdw", "one t|w"},
		{"one two", "<bd$", "one| "},
		{"one two", "<db", "one |o"},
		{"one two", "<0de", "| two"},
		{"one two", "<dd", "|"},
		{"one two", "<ccx", "x|"},
		{"one~two", "<dd", "|one"},
		{"one~two", "<ggdd", "|two"},
		{"one~two", "<kdd", "|two"},
		{"one~two~three", "<kddp", "one\nthree\n|two"},
		{"one~two", "<yyP", "one\n|two\ntwo"},
		{"one~two", "<gg", "|one\ntwo"},
		{"one~two", "<ggG", "one\n|two"},
		{"one~two", "<kj", "one\ntw|o"},
		{"one~a", "<kk$j", "one\n|a"},
		{"one", "<Ax", "onex|"},
		{"one", "<Ix", "x|one"},
		{"one", "<ix", "onx|e"},
		{"one", "<0ax", "ox|ne"},
		{"one~two", "<kox", "one\nx|\ntwo"},
		{"one~two", "<Ox", "one\nx|\ntwo"},
		{"one two", "<0dwP", "one| two"},
		{"one two", "<0xp", "n|oe two"},
		{"one two", "<0dwu", "|one two"},
		{"one", "<Ax<u", "on|e"},
		{"one two", "<xxuu", "one tw|o"},
		{"one", "<q9Z", "on|e"},
		{"", "<hjklwbe0$xXDdddwpu", "|"},
		{"äß€ 漢字", "<0x", "|ß€ 漢字"},
		{"one two", "<0ywP", "one| one two"},
		{"one two", "<0dqx", "|ne two"},
	} {
		composer := New()
		composer.SetVi()
		pressAll(&composer, c.typed)
		pressAll(&composer, c.keys)
		if got := composer.withCursor(); got != c.want {
			t.Errorf("%q after %q: got %q, want %q", c.keys, c.typed, got, c.want)
		}
	}
}

func TestViStartsInInsertModeAfterAMessage(t *testing.T) {
	c := New()
	c.SetVi()
	pressAll(&c, "one<")
	if c.ViMode() != "normal" {
		t.Fatalf("got mode %q", c.ViMode())
	}
	if c.Clear(); c.ViMode() != "insert" {
		t.Errorf("after sending: got mode %q", c.ViMode())
	}
	if plain := New(); plain.ViMode() != "" || plain.LeaveInsert() {
		t.Error("the keys of vi are on by default")
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
		pressAll(&c, "one two")
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
	pressAll(&c, "one two")
	c.Press(tea.KeyPressMsg{Code: 'a', Mod: tea.ModCtrl})
	c.Press(tea.KeyPressMsg{Code: 'k', Mod: tea.ModCtrl})
	c.Press(tea.KeyPressMsg{Code: 't', Mod: tea.ModCtrl})
	pressAll(&c, "x")
	c.Press(tea.KeyPressMsg{Code: 'y', Mod: tea.ModCtrl})
	c.Press(tea.KeyPressMsg{Code: 'b', Mod: tea.ModAlt})
	c.Press(tea.KeyPressMsg{Code: 'd', Mod: tea.ModAlt})
	if got := c.Text(); got != "xone " {
		t.Errorf("got %q", got)
	}
}

func FuzzViKeys(f *testing.F) {
	for _, keys := range []string{"<ddp", "a~b<ggOx<u", "one two<bcwx<uup", "漢字 <0dwP", "<gGdG"} {
		f.Add("one~ two", keys)
	}
	f.Fuzz(func(t *testing.T, typed, keys string) {
		if len(typed)+len(keys) > 500 || !utf8.ValidString(typed+keys) {
			t.Skip()
		}
		c := New()
		c.SetVi()
		pressAll(&c, protocol.ValidText(strings.ReplaceAll(typed, "\r", "")))
		for _, key := range keys {
			pressAll(&c, string(key))
			text, at := c.Text(), c.Cursor()
			if at < 0 || at > len(text) || !utf8.ValidString(text[:at]) {
				t.Fatalf("the cursor %d is outside of the text %q", at, text)
			}
			lineEnds := at == len(text) || text[at] == '\n'
			lineStarts := at == 0 || text[at-1] == '\n'
			if c.ViMode() == "normal" && lineEnds && !lineStarts && key != '~' {
				t.Fatalf("the cursor %d is behind the line in %q after %q", at, text, key)
			}
		}
	})
}
