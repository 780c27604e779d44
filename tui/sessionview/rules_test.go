package sessionview

import (
	"testing"

	"agentctl/internal/dev/tuitest"
)

func TestMenuKeepsComposerText(t *testing.T) {
	s := open(t, tuitest.Scenes["rules"](), 80, 24)
	s.typeText("draft")
	s.press("f4", "z", "esc")
	s.mustShow("> draft")
}
