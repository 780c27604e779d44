//go:build replay

package replay

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// acpRecordings returns the recorded conversations of every agent, by its name.
func acpRecordings(t *testing.T) map[string][]*ACPConversation {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(os.Getenv("AGENTCTL_RECORDINGS"), "acp", "*"))
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("AGENTCTL_RECORDINGS") == "" || len(dirs) == 0 {
		t.Fatal("AGENTCTL_RECORDINGS must name the directory of the recordings")
	}
	agents := map[string][]*ACPConversation{}
	for _, dir := range dirs {
		name := filepath.Base(dir)
		name = name[:strings.LastIndexByte(name, '-')]
		if agents[name], err = LoadACP(dir); err != nil {
			t.Fatal(err)
		}
	}
	return agents
}

func TestACPPlaysEveryRecordedAgent(t *testing.T) {
	for name, list := range acpRecordings(t) {
		for _, c := range list {
			t.Run(name+"/"+c.Name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { goldenACP(t, name, c) })
			})
		}
	}
}

// allACPRecordings returns the recorded conversations of all agents.
func allACPRecordings(t *testing.T) (all []*ACPConversation) {
	t.Helper()
	agents := acpRecordings(t)
	for _, name := range slices.Sorted(maps.Keys(agents)) {
		all = append(all, agents[name]...)
	}
	return all
}

// The conversations of testdata have the shapes of the recorded ones, and every type of message
// that the recorded ones have.
func TestTheOwnACPConversationsHaveTheRecordedShapes(t *testing.T) {
	shapes := LearnACP(allACPRecordings(t))
	own := LearnACP(acpConversations(t))
	for _, c := range acpConversations(t) {
		c.Each(func(i int, m Message) {
			for _, difference := range shapes.Check(c.Steps[i].Direction, m) {
				t.Errorf("%s at %d ms: %s", c.Name, c.Steps[i].MS, difference)
			}
		})
	}
	for _, direction := range []Direction{ToAgent, FromAgent} {
		types := shapes.Types(direction)
		covered := 0
		for _, typ := range types {
			if own.Knows(direction, typ) {
				covered++
			} else {
				t.Errorf("acp %s: no own conversation has %s", direction, typ)
			}
		}
		fmt.Printf("acp %s: %d of %d types of messages are covered\n", direction, covered, len(types))
	}
}

// A change of one field of a recorded message is a difference of shape.
func TestAMutatedFieldOfACPIsADifferenceOfShape(t *testing.T) {
	list := allACPRecordings(t)
	shapes := LearnACP(list)
	for _, c := range list {
		eachACPMutation(shapes, c, func(m Message, change mutation, _ *ACPConversation) {
			if len(shapes.Check(FromAgent, m)) == 0 {
				t.Errorf("%s: %s is no difference", c.Name, change.what)
			}
		})
	}
}

func TestAMutatedFieldOfAnACPRecordingChangesTheTranscript(t *testing.T) {
	silent := maps.Clone(silentACP)
	silent["session/load error"] = "agentctl's client loads a session only when a process starts"
	checkACPMutations(t, allACPRecordings(t), silent)
}
