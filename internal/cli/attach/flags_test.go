package attach

import (
	"testing"

	"agentctl/internal/dev/verbtest"
)

func TestFlagsAndArgumentsBecomeOptions(t *testing.T) {
	verbtest.CheckOptions(t, &attachVerb, "--plain", attachOptions{Plain: true, Theme: "auto", Keep: 3})
	verbtest.CheckOptions(t, &attachVerb, "s --theme light --mouse --no-alert --keep 9",
		attachOptions{Session: "s", Theme: "light", Mouse: true, NoAlert: true, Keep: 9})
}
