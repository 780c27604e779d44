package sessionview

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/keymap"
)

func TestKeymapRebinds(t *testing.T) {
	s := open(t, tuitest.Scenes["queue"](), 80, 24)
	keys, err := keymap.New(keymap.Keys{"interrupt": {"ctrl+b"}, "list.remove": {"D"}, "help": nil})
	if err != nil {
		t.Fatal(err)
	}
	s.m.Styles.Keys = keys
	s.press("ctrl+x", "f1")
	s.mustShow("queue")
	s.mustSendNothing()
	s.press("tab")
	s.mustShow("e edit", "D remove")
	s.press("D")
	s.mustSend(protocol.DoQueueRemove)
	s.press("ctrl+b")
	s.mustSend(protocol.DoInterrupt)
}

func TestHelpShowsConfiguredKeys(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	keys, err := keymap.New(keymap.Keys{"interrupt": {"ctrl+b"}, "settings": nil})
	if err != nil {
		t.Fatal(err)
	}
	s.m.Styles.Keys = keys
	s.press("f1")
	s.mustShow("ctrl+b                      interrupt, hold")
	if strings.Contains(s.text(), "the agent's settings") {
		t.Error("the help lists an action without a key")
	}
	all, err := keymap.Keys{"interrupt": {"ctrl+b"}}.Bindings()
	if err != nil || len(all) != len(keymap.Definitions()) || all[2].Action != "interrupt" || all[2].Keys[0] != "ctrl+b" {
		t.Errorf("got bindings %+v, error %v", all, err)
	}
}

func TestHintsShowConfiguredKeys(t *testing.T) {
	keys, err := keymap.New(keymap.Keys{
		"next-part":     {"f9"},
		"end":           {"alt+e"},
		"composer.send": {"alt+l"},
		"take-back":     {"f11"},
		"help":          {"f12"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for scene, wants := range map[string][]string{
		"queue":            {"queue · 2 messages", " · F9", "F12 help"},
		"tasks to confirm": {"F9 decides"},
		"plan":             {"done · F9"},
	} {
		s := open(t, tuitest.Scenes[scene](), 80, 40)
		s.m.Styles.Keys = keys
		s.waitGrace()
		s.update(tea.WindowSizeMsg{Width: 140, Height: 40}) // redraws everything
		s.mustShow(wants...)
		s.mustHide(" tab")
	}

	s := open(t, tuitest.Scenes["queue"](), 120, 30)
	s.m.Styles.Keys = keys
	s.refuse(tuitest.ErrRefused)
	s.typeText("hello")
	s.press("alt+l")
	s.mustShow("F11 takes it back")
	s.press("f9", "e")
	s.mustShow("alt+l saves · esc cancels")
}
