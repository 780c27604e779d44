package subagent

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"agentctl/protocol"
)

func TestTheIDOfASubAgentIsThatOfItsRootAndName(t *testing.T) {
	id := SessionID("s_root", "a")
	if id != SessionID("s_root", "a") || len(id) != 18 || !strings.HasPrefix(id, "s_") {
		t.Errorf("id %q", id)
	}
	if other := []string{SessionID("s_root", "b"), SessionID("s_roota", ""), id}; other[0] == id || other[1] == id {
		t.Errorf("ids %q", other)
	}
}

func TestSubAgentsAreCountedByTheirRoot(t *testing.T) {
	tree := NewTree()
	for child, parent := range map[string]string{"a": "root", "x": "other"} {
		if err := tree.Add(child, parent, 3); err != nil {
			t.Fatal(err)
		}
	}
	for _, child := range []string{"b", "c", "b"} {
		if err := tree.Add(child, "a", 3); err != nil {
			t.Fatal(err)
		}
	}
	for _, parent := range []string{"root", "a", "c"} {
		if err := tree.Add("d", parent, 3); protocol.CodeOf(err) != protocol.CodeSessionLimit {
			t.Errorf("a fourth below %s: %v", parent, err)
		}
	}
	if err := tree.Add("b", "root", 9); err != nil || !slices.Equal(tree.Children("a"), []string{"b", "c"}) {
		t.Errorf("a known one moved: %v, %q", err, tree.Children("root"))
	}
	if root := tree.Root("c"); root != "root" || tree.Root("new") != "new" {
		t.Errorf("root %q", root)
	}
	if all := tree.Below("root"); !slices.Equal(all, []string{"a", "b", "c"}) || len(tree.All()) != 4 {
		t.Errorf("below the root: %q", all)
	}
	tree.Remove("b")
	if err := tree.Add("d", "c", 3); err != nil {
		t.Error(err)
	}
}

func TestSubAgentsAreNotDeeperThanTheLimit(t *testing.T) {
	tree := NewTree()
	parent := "root"
	for i := range maxDepth {
		child := fmt.Sprint(i)
		if err := tree.Add(child, parent, 100); err != nil {
			t.Fatal(err)
		}
		parent = child
	}
	if err := tree.Add("deeper", parent, 100); protocol.CodeOf(err) != protocol.CodeSessionLimit {
		t.Errorf("%v", err)
	}
	tree.Load("p", "q")
	tree.Load("q", "p") // a damaged store
	if root := tree.Root("p"); root == "" {
		t.Error("no root")
	}
}

// The number below a session follows from additions, loads in any order, and removals.
func TestTheNumberBelowASessionIsKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := NewTree()
		id := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f"})
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			child := id.Draw(t, "child")
			switch parent := id.Draw(t, "parent"); {
			case rapid.Bool().Draw(t, "remove"):
				tree.Remove(child)
			case child <= parent || tree.parents[child] != "": // no circle
			case rapid.Bool().Draw(t, "stored"):
				tree.Load(child, parent)
			default:
				_ = tree.Add(child, parent, 4)
			}
			for _, session := range []string{"a", "b", "c", "d", "e", "f"} {
				if n := len(tree.Below(session)); n != tree.sizes[session] {
					t.Fatalf("%d below %s, kept %d", n, session, tree.sizes[session])
				}
			}
		}
	})
}

// Adding one costs the same however many a session has.
func TestManySubAgentsCostAsFew(t *testing.T) {
	tree := NewTree()
	const most = 10000
	for i := range most {
		if err := tree.Add(fmt.Sprint(i), "root", most); err != nil {
			t.Fatal(err)
		}
	}
	if err := tree.Add("one more", "root", most); protocol.CodeOf(err) != protocol.CodeSessionLimit {
		t.Errorf("one more: %v", err)
	}
	if n := testing.AllocsPerRun(100, func() {
		tree.Remove("1")
		_ = tree.Add("1", "root", most)
	}); n > 1 {
		t.Errorf("%v allocations", n)
	}
}
