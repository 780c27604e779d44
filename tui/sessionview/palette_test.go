package sessionview

import (
	"reflect"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/request"
	"agentctl/tui/ui"
)

func TestGoldenPaletteOnAWideScreen(t *testing.T) {
	t.Run("palette_200", func(t *testing.T) {
		s := open(t, tuitest.Scenes["settings"](), 200, 60)
		someCommands(s)
		s.press("ctrl+k")
		tuitest.Golden(t, s.text())
	})
}

// TestPaletteRunsEveryCommand runs each command of the screen by its name, from the palette and
// from the composer, and compares the effects.
func TestPaletteRunsEveryCommand(t *testing.T) {
	for _, c := range keymap.Commands() {
		if c.Screens&keymap.OnSession == 0 {
			continue
		}
		effect := func(type_ func(*testScreen)) (string, []tuitest.Command, []tea.Msg) {
			s := open(t, commandJournal(), 100, 32)
			if c.Action == keymap.Bottom {
				s.press("ctrl+home")
			}
			s.m.Sessions, s.m.input.Sessions = true, true
			before := s.text()
			type_(s)
			msgs := tuitest.Messages(s.m.Update(tuitest.KeyPress("enter")))
			if s.m.asked != nil {
				msgs = append(msgs, s.m.asked)
			}
			for _, msg := range msgs {
				if done, ok := msg.(request.DoneMsg); ok {
					s.update(done)
				}
			}
			commands := s.takeCommands()
			if s.text() == before && len(commands) == 0 && !leaves(msgs) {
				t.Errorf("/%s has no effect:\n%s", c.Name, s.text())
			}
			return s.text(), commands, msgs
		}
		text, commands, msgs := effect(func(s *testScreen) { s.press("ctrl+k"); s.typeText(c.Name) })
		text2, commands2, msgs2 := effect(func(s *testScreen) { s.typeText("/" + c.Name) })
		if text != text2 || !reflect.DeepEqual(commands, commands2) || leaves(msgs) != leaves(msgs2) {
			t.Errorf("/%s: the palette sends %v, the composer %v\n%s\n%s", c.Name, commands, commands2, text, text2)
		}
		for _, sent := range append(commands, commands2...) {
			if sent.Verb == protocol.DoSend {
				t.Errorf("/%s is sent as a message", c.Name)
			}
		}
	}
}

// leaves reports whether messages leave the session, or clear or suspend the screen.
func leaves(msgs []tea.Msg) bool {
	for _, msg := range msgs {
		switch msg.(type) {
		case ui.ActionIntent, ui.SwitchMouseMsg, tea.QuitMsg:
			return true
		}
		typ := reflect.TypeOf(msg)
		if typ == reflect.TypeOf(tea.ClearScreen()) || strings.Contains(typ.String(), "exec") {
			return true
		}
	}
	return false
}

// commandJournal is a session with a queue, settings and a running turn.
func commandJournal() *tuitest.Journal {
	j := tuitest.Scenes["settings"]()
	j.QueueMessage(tuitest.Ada, "m3", "next")
	return j
}

func TestPaletteRanksCommands(t *testing.T) {
	s := open(t, tuitest.Scenes["settings"](), 100, 40)
	for text, want := range map[string]string{
		"set": "/settings", "mod": "/mode", "model": "/model", "int": "/interrupt", "tes": "/test",
		"stg": "/settings", "wire": "", "$VISUAL": "", "previous": "", "document": "/export",
	} {
		s.press("ctrl+k")
		s.typeText(text)
		if want == "" {
			s.mustShow("no command")
		} else {
			s.mustShow("▸ " + want)
		}
		s.press("esc")
		s.mustHide("tab complete")
	}
}

func TestPaletteListsNoCommandThatTheAgentCannotDo(t *testing.T) {
	s := open(t, tuitest.Conversation(), 100, 40)
	for _, name := range []string{"/undo", "/repeat", "/fork"} {
		s.press("ctrl+k")
		s.typeText(name[1:])
		s.mustHide("▸ " + name)
		s.press("esc")
	}
}

func TestPaletteOpensInEveryPlace(t *testing.T) {
	for name, prepare := range map[string]func(*testScreen){
		"composer with text": typing("half a mess"),
		"approval":           (*testScreen).focusApproval,
		"reason":             func(s *testScreen) { s.focusApproval(); s.press("r"); s.typeText("be") },
		"transcript":         func(s *testScreen) { s.m.setFocus(onTranscript) },
		"copy mode":          func(s *testScreen) { s.m.setFocus(onTranscript); s.press("space") },
		"search":             func(s *testScreen) { s.press("ctrl+f"); s.typeText("wo") },
		"rules":              pressing("f4"),
		"help":               pressing("f1"),
		"context":            pressing("f6"),
	} {
		s := open(t, tuitest.Scenes["approval"](), 100, 40)
		prepare(s)
		s.session.Mu.Lock()
		s.session.Sent = nil
		s.session.Mu.Unlock()
		before := s.text()
		s.press("ctrl+k")
		s.typeText("se")
		if !strings.Contains(s.text(), "▸ /settings") {
			t.Errorf("%s: no palette:\n%s", name, s.text())
		}
		s.press("ctrl+k")
		if s.m.focus == onTranscript {
			s.mustHide("tab complete") // the selected item stays on the screen: it may scroll
		} else if s.text() != before {
			t.Errorf("%s: the palette changes the screen below:\n%s", name, s.text())
		}
		s.mustSendNothing()
	}
}

func TestPaletteKeepsTheDraft(t *testing.T) {
	s := open(t, tuitest.Scenes["settings"](), 100, 40)
	s.typeText("the parser")
	s.press("ctrl+k")
	s.typeText("plan")
	s.press("enter") // it has arguments: the draft becomes them
	s.mustSendNothing()
	s.mustShow("> /plan the parser")
	s.press("ctrl+k")
	s.typeText("test")
	s.press("enter")
	if data := s.mustSend(protocol.DoSend).(protocol.SendData); data.Text != "/test" {
		t.Errorf("got sent text %q", data.Text)
	}
	s.mustShow("> /plan the parser")
}

func TestAWordOfAgentctlRunsItsCommand(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 100, 40)
	s.typeText("/rename new name")
	s.press("enter")
	s.mustShow("rename fix-tests", "new name")
	s.press("enter")
	if data := s.mustSend(protocol.DoRename).(protocol.RenameData); *data.Name != "new name" {
		t.Errorf("got name %q", *data.Name)
	}
	s.mustHide("rename fix-tests")
	s.typeText("/help me")
	s.press("enter")
	s.mustShow("/help takes no text; //help goes to the agent", "> /help me")
	s.mustSendNothing()
}

func TestEveryCommandOfTheScreenIsAWordOfAgentctl(t *testing.T) {
	for _, c := range keymap.Commands() {
		if c.Screens&keymap.OnSession != 0 && !remote.IsOwnWord("/"+c.Name) {
			t.Errorf("/%s goes to an agent in plain mode", c.Name)
		}
		if keymap.DefinitionOf(c.Action).About == "" {
			t.Errorf("/%s has no text", c.Name)
		}
	}
}

func TestHelpInOverlays(t *testing.T) {
	s := open(t, tuitest.Scenes["rules"](), 100, 40)
	s.press("f4", "delete", "f1")
	s.mustShow("Lists", "choose")
	s.press("esc")
	s.mustShow("revoke the rule")
}

// reportRemovals answers removals and sends like a server: removed, queued last.
func (s *testScreen) reportRemovals() {
	s.session.Reply = func(c tuitest.Command) (any, error) {
		switch data := c.Data.(type) {
		case protocol.QueueRemoveData:
			return protocol.QueueRemoveResult{Removed: true}, nil
		case protocol.SendData:
			last := 1
			return protocol.SendResult{Status: protocol.SendQueued, MessageID: "new-" + data.Text, Index: &last}, nil
		}
		return nil, nil
	}
}

func TestRemovalIsUndone(t *testing.T) {
	j := tuitest.Conversation()
	j.QueueMessage(tuitest.Ada, "m3", "one")
	j.QueueMessage(tuitest.Ada, "m4", "two")
	j.CaughtUp()
	s := open(t, j, 100, 24)
	s.reportRemovals()
	s.typeText("/clear")
	s.press("enter")
	s.mustShow("removed 2 messages · ctrl+z undo")
	if got := s.takeCommands(); len(got) != 2 || got[0].Verb != protocol.DoQueueRemove {
		t.Fatalf("got commands %+v", got)
	}
	s.press("ctrl+z")
	want := []tuitest.Command{
		{Verb: protocol.DoSend, Data: protocol.SendData{Text: "one", ClientMessageID: "client-m101"}},
		{Verb: protocol.DoQueueMove, Data: protocol.QueueMoveData{MessageID: "new-one", Index: 0}},
		{Verb: protocol.DoSend, Data: protocol.SendData{Text: "two", ClientMessageID: "client-m102"}},
	}
	if got := s.takeCommands(); !reflect.DeepEqual(got, want) {
		t.Errorf("got commands %+v, want %+v", got, want)
	}
	s.mustShow("restored 2 messages")
}

func TestUndoExpires(t *testing.T) {
	j := tuitest.Conversation()
	j.QueueMessage(tuitest.Ada, "m3", "one")
	j.CaughtUp()
	s := open(t, j, 100, 24)
	s.reportRemovals()
	s.typeText("/clear")
	s.press("enter")
	s.takeCommands()
	s.now = s.now.Add(9 * time.Second)
	s.update(ui.TimerMsg{At: s.now})
	s.mustShow("removed 1 message · ctrl+z undo")
	s.now = s.now.Add(time.Second)
	s.update(ui.TimerMsg{At: s.now})
	s.mustHide("undo")
	if _, ok := s.m.panels.queue.Undo(); ok {
		t.Error("a removal is undone after ten seconds")
	}
}

func TestFailedUndoKeepsTheTexts(t *testing.T) {
	j := tuitest.Conversation()
	j.QueueMessage(tuitest.Ada, "m3", "one")
	j.CaughtUp()
	s := open(t, j, 100, 24)
	s.reportRemovals()
	s.typeText("/clear")
	s.press("enter")
	s.refuse(tuitest.ErrRefused)
	s.press("ctrl+z")
	s.mustShow("> one", "observers may not do that")
}

func TestMessagesOfOthersAreRemovedAfterAQuestion(t *testing.T) {
	s := open(t, tuitest.Scenes["queue"](), 100, 24)
	s.reportRemovals()
	s.typeText("/clear")
	s.press("enter")
	s.mustShow("remove 2 messages, 1 message of others? This cannot be undone", "▸ Cancel")
	s.typeText("yR") // no letter answers
	s.press("enter")
	s.mustSendNothing()
	s.typeText("/clear")
	s.press("enter", "tab", "enter")
	if got := s.takeCommands(); len(got) != 2 || got[1].Verb != protocol.DoQueueRemove {
		t.Errorf("got commands %+v", got)
	}
	s.mustShow("removed 2 messages")
	s.mustHide("undo")
}
