package approval

import (
	"strings"
	"testing"

	"agentctl/internal/dev/tuitest"
)

func TestApprovalPatchNotEditable(t *testing.T) {
	s := open(t, tuitest.Scenes["patch"](), 100, 40)
	r := &s.state.Approvals[0]
	r.Editable = false
	s.focus()
	s.mustHide("p edit")
	s.press("e")
	s.mustShow("this agent takes no edited patch")
}

func TestApprovalEditPatchAgain(t *testing.T) {
	s := open(t, tuitest.Scenes["patch"](), 100, 40)
	s.focus()
	s.edit = replaces("20", "40")
	s.press("e")
	s.waitGrace()
	s.press("enter")
	s.mustShow("[ ] with the patch as edited", "+ const limit = 20")
	s.edit = replaces("40", "50")
	s.press("e")
	s.mustShow("[x] with the patch as edited", "+ const limit = 50")
	s.waitGrace()
	s.edit = replaces("50", "20")
	s.press("e")
	s.mustHide("as edited")
	s.waitGrace()
	s.press("y")
	if data := s.mustDecide(); data.Input != nil {
		t.Errorf("got input %+v for an unchanged patch, want none", data.Input)
	}
}

func TestApprovalEditedPatchUnsupported(t *testing.T) {
	s := open(t, tuitest.Scenes["patch"](), 100, 40)
	s.focus()
	s.edit = replaces("20", "40")
	s.refusal = "the agent cannot take an edited patch"
	s.press("e")
	s.waitGrace()
	s.press("y")
	s.mustDecide()
	s.mustShow("cannot take an edited patch", "[x] with the patch as edited")
	s.press("enter", "y")
	if data := s.mustDecide(); data.Input != nil {
		t.Errorf("got input %+v for the original patch, want none", data.Input)
	}
}

// Keys pressed in the editor may arrive after it.
func TestAKeyThatFollowsTheEditorDecidesNothing(t *testing.T) {
	for _, key := range []string{"y", "n", "enter"} {
		s := open(t, tuitest.Scenes["patch"](), 100, 40)
		s.focus()
		s.edit = replaces("20", "40")
		s.press("e", "down", key)
		if len(s.sent) != 0 {
			t.Errorf("%s after the editor: decided %+v", key, s.sent)
		}
	}
}

func TestDenyWithoutPatch(t *testing.T) {
	s := open(t, tuitest.Scenes["patch"](), 100, 40)
	s.focus()
	s.edit = replaces("20", "40")
	s.press("e")
	s.waitGrace()
	s.press("n")
	if data := s.mustDecide(); data.Option != "deny" || data.Input != nil {
		t.Errorf("got decision %+v, want deny without input", data)
	}
}

func TestApprovalNothingToEdit(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 100, 40)
	s.focus()
	s.press("e")
	s.mustShow("this agent takes no edited command")
	s.mustHide("p edit")
}

// replaces returns an editor that replaces each occurrence of a text.
func replaces(what, by string) func(string) string {
	return func(text string) string { return strings.ReplaceAll(text, what, by) }
}
