package sessions

import (
	"testing"

	"agentctl/internal/cli/call"
	"agentctl/internal/dev/verbtest"
	"agentctl/protocol"
)

func TestFlagsAndArgumentsBecomeOptions(t *testing.T) {
	name := "n"
	verbtest.CheckOptions(t, newStateRestore, "f --key k", stateRestoreOptions{File: "f", Key: "k"})
	verbtest.CheckOptions(t, newStateRestore, "f --id k", stateRestoreOptions{File: "f", Key: "k"})
	verbtest.CheckOptions(t, calls.Row("rename").New, "s n",
		call.Options{Session: "s", Data: []any{protocol.RenameData{Name: &name}}})
	verbtest.CheckOptions(t, calls.Row("rename").New, "s --title n",
		call.Options{Session: "s", Data: []any{protocol.RenameData{Title: &name}}})
	verbtest.CheckOptions(t, calls.Row("fork").New, "s --before 3 --id k",
		call.Options{Session: "s", Key: "k", Data: []any{protocol.ForkData{Turn: "3", Before: true}}})
	verbtest.CheckOptions(t, newLabel, "s a=1 b-", labelOptions{Session: "s", Changes: map[string]string{"a": "1", "b": ""}})
	verbtest.CheckOptions(t, newList, "--all --filter agent=b --filter dir=d", listOptions{
		All: true, Filter: []string{"agent=b", "dir=d"},
	})
}
