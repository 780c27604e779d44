package dashboard

import "testing"

func TestJumpOpensASessionByAnyField(t *testing.T) {
	for text, want := range map[string]string{
		"task-007": "s007", "team=infra ticket=108": "s008", "payments 4": "s004", "s011": "s011",
	} {
		r := newRig(t, 80, 24, sessions(12)...)
		r.press("/")
		r.typeText("status:failed")
		r.press("enter", "alt+g")
		r.want("jump to a session")
		r.typeText(text)
		r.press("enter")
		if len(r.intents) != 1 || r.intents[0] != (OpenIntent{want}) {
			t.Errorf("%q: %+v, want the session %s", text, r.intents, want)
		}
	}
}

func TestJumpChoosesWithArrowsAndLeaves(t *testing.T) {
	r := newRig(t, 80, 24, sessions(12)...)
	r.press("alt+g", "down", "down", "up", "enter")
	if len(r.intents) != 1 || r.intents[0] != (OpenIntent{"s001"}) {
		t.Errorf("%+v, want the second of the latest sessions", r.intents)
	}
	r.intents = nil
	r.press("alt+g")
	r.typeText("nothing like that")
	r.want("no session matches")
	r.press("enter", "esc")
	r.wantNo("jump to a session")
	if len(r.intents) != 0 {
		t.Errorf("%+v, want none", r.intents)
	}
	r.d.OpenJump(true)
	r.press("esc")
	if len(r.intents) != 1 || r.intents[0] != (BackIntent{}) {
		t.Errorf("%+v, want to go back to the session", r.intents)
	}
}
