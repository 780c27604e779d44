package replay

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"

	"agentctl/internal/dev/memory"
	"agentctl/internal/dev/thorough"
)

func TestMain(m *testing.M) {
	memory.Use()
	os.Exit(m.Run())
}

var update = flag.Bool("update", false, "write the golden files")

// conversations returns the conversations of a dialect in testdata.
func conversations(t *testing.T, d *Dialect) []*Conversation {
	t.Helper()
	list, err := Load(filepath.Join("testdata", d.Name))
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 {
		t.Fatalf("no conversations of %s", d.Name)
	}
	return list
}

// golden plays a conversation to the client and compares what the user sees with a file of
// testdata, or writes the file.
func golden(t *testing.T, dir string, d *Dialect, c *Conversation) {
	t.Helper()
	path := filepath.Join("testdata", d.Name, dir, c.Name+".golden")
	got := ""
	if d.Play == nil {
		got = PlayClient(t, d, c)
	} else {
		synctest.Test(t, func(t *testing.T) { got = d.Play(t, d, c) })
	}
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTheClientPlaysTheServersOfTheOwnConversations(t *testing.T) {
	for _, d := range Dialects() {
		for _, c := range conversations(t, d) {
			if c.ServerIsReal() {
				t.Run(d.Name+"/"+c.Name, func(t *testing.T) { golden(t, "", d, c) })
			}
		}
	}
}

func TestTheServerPlaysTheClientsOfTheOwnConversations(t *testing.T) {
	for _, d := range Dialects() {
		if d.Server == nil {
			continue
		}
		list := conversations(t, d)
		shapes := d.Learn(list)
		for _, c := range list {
			t.Run(d.Name+"/"+c.Name, func(t *testing.T) { PlayServer(t, d, c, shapes) })
		}
	}
}

func TestAMutatedFieldOfAnOwnConversationChangesTheTranscript(t *testing.T) {
	for _, d := range Dialects() {
		t.Run(d.Name, func(t *testing.T) { checkMutations(t, d, conversations(t, d), d.Silent) })
	}
}

// checkMutations changes single fields of messages, except those that tell the type, until the
// client's transcript differs, for every type of message to the client. Silent types, all of whose
// fields must be tried, are left to a thorough run. There, one message of a type is tried where each play
// takes a server.
func checkMutations(t *testing.T, d *Dialect, list []*Conversation, silent map[string]string) {
	t.Helper()
	shapes := d.Learn(list)
	seen := map[string]bool{}
	tried := map[string]string{} // one message of each silent type
	for _, c := range list {
		if !c.ServerIsReal() {
			continue
		}
		want := ""
		eachMutation(d, shapes, c, func(m Message, change mutation, changed *Conversation) {
			if seen[m.Type] || slices.Contains(d.TypeFields, change.field) || silent[m.Type] != "" && !thorough.All() {
				return
			}
			if d.Play != nil && silent[m.Type] != "" {
				message := fmt.Sprintf("%p", m.Value)
				if first := cmp.Or(tried[m.Type], message); first != message {
					return
				}
				tried[m.Type] = message
			}
			if want == "" {
				want, _ = play(t, d, c)
			}
			got, failed := play(t, d, changed)
			seen[m.Type] = failed || got != want
		})
	}
	for _, typ := range shapes.Types(ToClient) {
		switch reason := silent[typ]; {
		case !seen[typ] && reason == "":
			t.Errorf("no change of a field of %s changes the transcript", typ)
		case seen[typ] && reason != "":
			t.Errorf("a change of a field of %s changes the transcript, although %s", typ, reason)
		}
	}
}

// play plays a conversation to the client. It reports whether the client failed to send its part.
func play(t *testing.T, d *Dialect, c *Conversation) (transcript string, failed bool) {
	t.Helper()
	attempt := func(t *testing.T, play func(testing.TB, *Dialect, *Conversation) string) {
		r := &recorder{TB: t}
		defer func() {
			if v := recover(); v != nil && v != any(r) {
				panic(v)
			}
			failed = r.failed
		}()
		transcript = play(r, d, c)
	}
	if d.Play == nil {
		attempt(t, PlayClient)
	} else {
		synctest.Test(t, func(t *testing.T) { attempt(t, d.Play) })
	}
	return transcript, failed
}

// A recorder notes a failure instead of failing the test.
type recorder struct {
	testing.TB
	failed bool
}

func (r *recorder) Errorf(string, ...any) { r.failed = true }
func (r *recorder) Fatalf(string, ...any) { r.failed = true; panic(r) }
