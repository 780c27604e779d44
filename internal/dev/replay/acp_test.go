package replay

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"

	"agentctl/protocol"
)

// acpConversations returns the conversations of testdata.
func acpConversations(t *testing.T) []*ACPConversation {
	t.Helper()
	list, err := LoadACP(filepath.Join("testdata", "acp"))
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 {
		t.Fatal("no conversations of acp")
	}
	return list
}

// goldenACP plays a conversation and compares what the user sees with a file of testdata.
func goldenACP(t *testing.T, dir string, c *ACPConversation) {
	t.Helper()
	compareGolden(t, filepath.Join("testdata", "acp", dir, c.Name+".golden"), PlayACP(t, c))
}

func TestACPPlaysTheAgentsOfTheOwnConversations(t *testing.T) {
	for _, c := range acpConversations(t) {
		t.Run(c.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { goldenACP(t, "", c) })
		})
	}
}

func TestAMutatedFieldOfAnOwnACPConversationChangesTheTranscript(t *testing.T) {
	checkACPMutations(t, acpConversations(t), silentACP)
}

// silentACP are types of an agent's messages of which no field changes the transcript, with the
// reason.
var silentACP = map[string]string{
	"_auth/status_update":             rawOnly,
	"craft/drainMidTurnQueue":         rawOnly,
	"fs/write_text_file":              rawOnly,
	"qwen/notify/session/mode-update": rawOnly,
	"no/such/method error":            notAsked,
	"session/close result":            notAsked,
	"session/list result":             notAsked,
	"session/set_mode error":          "the client checks a mode before it asks for it",
	"session/set_mode result":         "it is empty",
	"session/set_model result":        "it is empty",
}

const (
	rawOnly  = "it is in the protocol log only"
	notAsked = "the client sends no such request"
)

// acpTypeFields are the fields that tell the type of a message, and the version of JSON-RPC.
var acpTypeFields = []string{"method", "sessionUpdate", "type", "id", "jsonrpc"}

// eachACPMutation calls f with every mutation of the messages of a conversation's agent, and a copy
// of the conversation that has it.
func eachACPMutation(shapes *Shapes, c *ACPConversation, f func(Message, mutation, *ACPConversation)) {
	c.Each(func(i int, m Message) {
		if c.Steps[i].Direction != FromAgent {
			return
		}
		for _, change := range shapes.mutations(FromAgent, m) {
			changed := *c
			changed.Steps = slices.Clone(c.Steps)
			change.apply()
			line := string(protocol.MustEncode(m.Value))
			changed.Steps[i].Line = &line
			f(m, change, &changed)
			change.undo()
		}
	})
}

// checkACPMutations changes single fields of messages, except those that tell the type, until the
// transcript differs, for every type of message of an agent.
func checkACPMutations(t *testing.T, list []*ACPConversation, silent map[string]string) {
	t.Helper()
	shapes := LearnACP(list)
	seen := map[string]bool{}
	tried := map[string]string{} // one message of each silent type
	for _, c := range list {
		want := ""
		eachACPMutation(shapes, c, func(m Message, change mutation, changed *ACPConversation) {
			if seen[m.Type] || slices.Contains(acpTypeFields, change.field) {
				return
			}
			if silent[m.Type] != "" {
				message := fmt.Sprintf("%p", m.Value)
				if first := cmp.Or(tried[m.Type], message); first != message {
					return
				}
				tried[m.Type] = message
			}
			if want == "" {
				want, _ = playACP(t, c)
			}
			got, failed := playACP(t, changed)
			seen[m.Type] = failed || got != want
		})
	}
	for _, typ := range shapes.Types(FromAgent) {
		switch reason := silent[typ]; {
		case !seen[typ] && reason == "":
			t.Errorf("no change of a field of %s changes the transcript", typ)
		case seen[typ] && reason != "":
			t.Errorf("a change of a field of %s changes the transcript, although %s", typ, reason)
		}
	}
}

// playACP plays a conversation. It reports whether the client failed to send its part.
func playACP(t *testing.T, c *ACPConversation) (transcript string, failed bool) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{TB: t}
		defer func() {
			if v := recover(); v != nil && v != any(r) {
				panic(v)
			}
			failed = r.failed
		}()
		transcript = PlayACP(r, c)
	})
	return transcript, failed
}
