package sessionview

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/tuitest"
	"agentctl/protocol"
	"agentctl/tui/keymap"
)

func TestAKeyIsGivenToAnotherAction(t *testing.T) {
	s := open(t, tuitest.Scenes["queue"](), 80, 24)
	keys, err := keymap.New(keymap.Keys{"interrupt": {"ctrl+b"}, "queue.remove": {"e"}, "help": nil})
	if err != nil {
		t.Fatal(err)
	}
	s.m.Styles.Keys = keys
	s.press("ctrl+x", "f1")
	s.shows("queue")
	s.askedNothing()
	s.press("tab")
	s.shows("enter edit", "e remove")
	s.press("e")
	s.asked(protocol.DoQueueRemove)
	s.press("ctrl+b")
	s.shows("interrupt")
}

func TestTheHelpTellsTheKeysThatWereChosen(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	keys, err := keymap.New(keymap.Keys{"interrupt": {"ctrl+b"}, "settings": nil})
	if err != nil {
		t.Fatal(err)
	}
	s.m.Styles.Keys = keys
	s.press("f1")
	s.shows("ctrl+b                      interrupt the turn")
	if strings.Contains(s.text(), "the agent's settings") {
		t.Error("an action without a key is told of")
	}
	all, err := keymap.Keys{"interrupt": {"ctrl+b"}}.Bindings()
	if err != nil || len(all) != len(keymap.Definitions) || all[1].Action != "interrupt" || all[1].Keys[0] != "ctrl+b" {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestHintsTellTheKeysThatWereChosen(t *testing.T) {
	keys, err := keymap.New(keymap.Keys{"next-part": {"f9"}, "end": {"alt+e"}, "composer.send": {"f10"}, "take-back": {"f11"}, "composer.help": {"f12"}})
	if err != nil {
		t.Fatal(err)
	}
	for scene, wants := range map[string][]string{
		"queue":            {"queue · 2 messages", " · F9", "F12 help"},
		"tasks to confirm": {"F9, or a number"},
		"plan":             {"done · F9"},
	} {
		s := open(t, tuitest.Scenes[scene](), 80, 40)
		s.m.Styles.Keys = keys
		s.quiet()
		s.give(tea.WindowSizeMsg{Width: 140, Height: 40}) // all is drawn anew
		s.shows(wants...)
		s.hides(" tab")
	}

	s := open(t, tuitest.Scenes["queue"](), 120, 30)
	s.m.Styles.Keys = keys
	s.refuse(tuitest.ErrRefused)
	s.write("hello")
	s.press("f10")
	s.shows("F11 takes it back")
	s.press("f9", "e")
	s.shows("F10 saves · esc cancels")
}
