//go:build replay

package replay

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"
)

// recordings returns the recorded conversations of a dialect.
func recordings(t *testing.T, d *Dialect) []*Conversation {
	t.Helper()
	dir := os.Getenv("AGENTCTL_RECORDINGS")
	if dir == "" {
		t.Fatal("AGENTCTL_RECORDINGS must name the directory of the recordings")
	}
	list, err := Load(filepath.Join(dir, d.Name))
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 {
		t.Fatalf("no recordings of %s in %s", d.Name, dir)
	}
	return list
}

func TestTheClientPlaysEveryRecordedServer(t *testing.T) {
	for _, d := range Dialects() {
		for _, c := range recordings(t, d) {
			if c.ServerIsReal() {
				t.Run(d.Name+"/"+c.Name, func(t *testing.T) { golden(t, "recordings", d, c) })
			}
		}
	}
}

func TestTheServerPlaysEveryRecordedClient(t *testing.T) {
	for _, d := range Dialects() {
		if d.Server == nil {
			continue
		}
		list := recordings(t, d)
		shapes := d.Learn(list)
		for _, c := range list {
			t.Run(d.Name+"/"+c.Name, func(t *testing.T) { PlayServer(t, d, c, shapes) })
		}
	}
}

// The conversations of testdata have the shapes of the recorded ones, and every type of message
// that the recorded ones have.
func TestTheOwnConversationsHaveTheRecordedShapes(t *testing.T) {
	for _, d := range Dialects() {
		recorded := recordings(t, d)
		shapes := d.Learn(recorded)
		own := NewShapes(d.OpenKeys)
		for _, c := range conversations(t, d) {
			d.Each(c, func(i int, _ []any, m Message) {
				s := c.Steps[i]
				own.Learn(s.Direction, m)
				if s.Direction == ToClient && d.Unrecorded[m.Type] != "" && !shapes.Knows(s.Direction, m.Type) {
					return
				}
				for _, difference := range shapes.Check(s.Direction, m) {
					if d.Exceptions[difference] != "" {
						continue
					}
					t.Errorf("%s/%s at %d ms: %s", d.Name, c.Name, s.MS, difference)
				}
			})
		}
		for _, direction := range []Direction{ToServer, ToClient} {
			types := shapes.Types(direction)
			covered := 0
			for _, typ := range types {
				if own.Knows(direction, typ) {
					covered++
				} else {
					t.Errorf("%s %s: no own conversation has %s", d.Name, direction, typ)
				}
			}
			fmt.Printf("%s %s: %d of %d types of messages are covered\n", d.Name, direction, covered, len(types))
		}
	}
}

// A change of one field of a recorded message is a difference of shape: a field that every example
// has and that is missing, or a value of another kind.
func TestAMutatedFieldIsADifferenceOfShape(t *testing.T) {
	for _, d := range Dialects() {
		list := recordings(t, d)
		shapes := d.Learn(list)
		for _, c := range list {
			if !c.ServerIsReal() {
				continue
			}
			d.Each(c, func(i int, _ []any, m Message) {
				s := c.Steps[i]
				if found := shapes.Check(s.Direction, m); len(found) > 0 {
					t.Fatalf("%s/%s at %d ms: %s", d.Name, c.Name, s.MS, found)
				}
			})
			eachMutation(d, shapes, c, func(m Message, change mutation, _ *Conversation) {
				if len(shapes.Check(ToClient, m)) == 0 {
					t.Errorf("%s/%s: %s is no difference", d.Name, c.Name, change.what)
				}
			})
		}
	}
}

func TestAMutatedFieldOfARecordingChangesTheTranscript(t *testing.T) {
	for _, d := range Dialects() {
		if d.NoServer { // nothing is played to the client
			continue
		}
		silent := map[string]string{}
		maps.Copy(silent, d.Unasked)
		maps.Copy(silent, d.Silent)
		t.Run(d.Name, func(t *testing.T) { checkMutations(t, d, recordings(t, d), silent) })
	}
}
