package sessions

import (
	"testing"

	"agentctl/internal/dev/verbtest"
)

func TestFlagsAndArgumentsBecomeOptions(t *testing.T) {
	name := "n"
	verbtest.CheckOptions(t, newStateRestore, "f --key k", stateRestoreOptions{File: "f", Key: "k"})
	verbtest.CheckOptions(t, newStateRestore, "f --id k", stateRestoreOptions{File: "f", Key: "k"})
	verbtest.CheckOptions(t, newRename, "s n", renameOptions{Session: "s", Name: &name})
	verbtest.CheckOptions(t, newRename, "s --title n", renameOptions{Session: "s", Title: &name})
	verbtest.CheckOptions(t, newLabel, "s a=1 b-", labelOptions{Session: "s", Changes: map[string]string{"a": "1", "b": ""}})
	verbtest.CheckOptions(t, newList, "--all --filter agent=b --filter dir=d", listOptions{
		All: true, Filter: []string{"agent=b", "dir=d"},
	})
}
