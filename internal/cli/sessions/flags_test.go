package sessions

import (
	"testing"

	"agentctl/internal/cli/call"
	"agentctl/internal/dev/verbtest"
	"agentctl/protocol"
)

func TestFlagsAndArgumentsBecomeOptions(t *testing.T) {
	name := "n"
	verbtest.CheckOptions(t, &stateRestoreVerb, "f --key k", stateRestoreOptions{File: "f", Key: "k"})
	verbtest.CheckOptions(t, &stateRestoreVerb, "f --id k", stateRestoreOptions{File: "f", Key: "k"})
	verbtest.CheckOptions(t, &renameVerb, "s n",
		call.Options{Session: "s", Data: []any{protocol.RenameData{Name: &name}}})
	verbtest.CheckOptions(t, &renameVerb, "s --title n",
		call.Options{Session: "s", Data: []any{protocol.RenameData{Title: &name}}})
	verbtest.CheckOptions(t, &forkVerb, "s --before 3 --id k",
		call.Options{Session: "s", Key: "k", Data: []any{protocol.ForkData{Turn: "3", Before: true}}})
	verbtest.CheckOptions(t, &labelVerb, "s a=1 b-", labelOptions{Session: "s", Changes: map[string]string{"a": "1", "b": ""}})
	verbtest.CheckOptions(t, &lsVerb, "--all --filter agent=b --filter dir=d", listOptions{
		All: true, Filter: []string{"agent=b", "dir=d"},
	})
}
