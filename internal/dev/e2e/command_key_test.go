package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
	"agentctl/wsclient"
)

// A commandFixture is a session in which every command has an effect.
type commandFixture struct {
	*testServer
	c       *wsclient.Client
	session string
	queued  []string // ids of queued messages
	rule    string
	state   protocol.SignedState
}

// The first turn creates a rule; the second stays open in a plan with a pending approval.
var commandFixtureScript = []string{
	`{"agent":"A","settings":[{"id":"mode","value":"ask"},{"id":"model","value":"small"}]}`,
	`{"turn":1}`, `{"ask":"command","command":"make","title":"make"}`,
	`{"turn":2}`, `{"plan":"Q","parallel":3,"tasks":[{"id":"a","title":"A","steps":[{"sleep":"1h"}]},{"id":"b","title":"B","steps":[{"ask":"tool","name":"t","title":"t"},{"sleep":"1h"}]}]}`,
}

func newCommandFixture(t *testing.T) *commandFixture {
	w := newTestServer(t, commandFixtureScript...)
	return w.newCommandFixture(t, w.create(w.client("ann")))
}

// newCommandFixture brings a new session into the state of a fixture.
func (w *testServer) newCommandFixture(t *testing.T, session string) *commandFixture {
	s := &commandFixture{testServer: w, c: w.client("ann"), session: session}
	s.send(s.c, s.session, "one")
	mustObserve(t, s.client("one"), s.session, wsclient.SubscribeOptions{}, eventOfType(protocol.ApprovalRequested))
	r := do[protocol.ApproveResult](
		t, s.c, protocol.DoApprove, s.session, protocol.ApproveData{Decision: protocol.AllowAlways},
	)
	s.rule = r.Rule.ID
	mustObserve(t, s.client("two"), s.session, wsclient.SubscribeOptions{Since: logStart()}, turnsEnded(1))
	s.send(s.c, s.session, "two")
	mustObserve(t, s.client("three"), s.session, wsclient.SubscribeOptions{}, eventOfType(protocol.ApprovalRequested))
	for i := range 3 {
		s.queued = append(s.queued, s.send(s.c, s.session, fmt.Sprint("queued ", i)).MessageID)
	}
	s.state = do[protocol.ExportResult](t, s.c, protocol.DoExport, s.session, nil).State
	return s
}

// commandData returns the data of a state-changing command: the first body, and another one for the
// same key. They are the examples of the command, with the ids of the fixture.
func (s *commandFixture) commandData(c *protocol.CommandType) (data [2]any) {
	switch c.Verb { // examples of these stand for data that a server makes
	case protocol.DoRestore:
		return [2]any{protocol.RestoreData{State: s.state}, protocol.RestoreData{State: s.state, Name: "n"}}
	case protocol.DoImport:
		return [2]any{
			protocol.ImportData{Events: finishedTurn()}, protocol.ImportData{Events: finishedTurn(), LeftOut: 1},
		}
	}
	ids := strings.NewReplacer(`"m_1"`, strconv.Quote(s.queued[0]), `"m_2"`, strconv.Quote(s.queued[1]),
		`"rule_1"`, strconv.Quote(s.rule))
	for i, example := range c.Examples {
		if example != "" {
			data[i] = json.RawMessage(ids.Replace(example))
		}
	}
	return data
}

// finishedTurn is a turn of a log.
func finishedTurn() []json.RawMessage {
	event := func(typ protocol.Type, data any) json.RawMessage {
		return protocol.MustEncode(protocol.Event{
			Session: "s", Turn: "t", Seq: 2, Time: time.Unix(1e9, 0), Type: typ, Data: protocol.MustEncode(data),
		})
	}
	return []json.RawMessage{
		event(protocol.MessageUser, protocol.MessageUserData{Message: protocol.Message{MessageID: "m", Text: "x"}}),
		event(protocol.TurnStarted, protocol.TurnStartedData{MessageID: "m"}),
		event(protocol.TurnEnded, protocol.TurnEndedData{Reason: protocol.ReasonCompleted}),
	}
}

// notOfScripts are commands that need an agent with its own conversation.
var notOfScripts = []protocol.Verb{protocol.DoUndo, protocol.DoRetry, protocol.DoFork}

// call executes a command with a key and returns its raw result.
func (s *commandFixture) call(
	t *testing.T, c *wsclient.Client, verb protocol.Verb, key string, data any,
) (string, error) {
	t.Helper()
	cmd := protocol.Command{Command: verb, Key: key}
	if protocol.CommandOf(verb).Session {
		cmd.Session = s.session
	}
	if data != nil {
		cmd.Data = protocol.MustEncode(data)
	}
	var result json.RawMessage
	err := c.Do(t.Context(), cmd, &result)
	return string(result), err
}

// logEnds returns the last seq of each session.
func (s *commandFixture) logEnds(t *testing.T) string {
	t.Helper()
	var all string
	for _, sum := range do[protocol.ListResult](t, s.c, protocol.DoList, "", protocol.ListData{Closed: true}).Sessions {
		all += fmt.Sprintln(
			sum.Session,
			sum.Epoch,
			do[protocol.SnapshotResult](t, s.c, protocol.DoSnapshot, sum.Session, nil).Snapshot.State.Seq,
		)
	}
	return all
}

func TestACommandSentTwiceWithOneKeyActsOnce(t *testing.T) {
	t.Parallel()
	for _, verb := range protocol.Commands {
		if !verb.Changes {
			continue
		}
		t.Run(string(verb.Verb), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newCommandFixture(t)
				data := s.commandData(&verb)
				bob := s.client("bob")
				do[protocol.Empty](t, bob, protocol.DoPing, "", nil)

				// At the same time, from two connections.
				first := async(
					func() string { r, err := s.call(t, s.c, verb.Verb, "key", data[0]); return fmt.Sprint(r, err) },
				)
				second := async(
					func() string { r, err := s.call(t, bob, verb.Verb, "key", data[0]); return fmt.Sprint(r, err) },
				)
				a, b := <-first, <-second
				if done := strings.HasSuffix(a, "<nil>"); a != b || done == slices.Contains(notOfScripts, verb.Verb) {
					t.Fatalf("answered %s and %s", a, b)
				}
				synctest.Wait()
				if verb.Verb == protocol.DoClose {
					s.c = bob // the closed session's client no longer writes
				}
				before := s.logEnds(t)

				// Later, and after a restart.
				again, err := s.call(t, bob, verb.Verb, "key", data[0])
				if got := fmt.Sprint(again, err); got != a {
					t.Errorf("first answered %s, later %s", a, got)
				}
				synctest.Wait()
				if after := s.logEnds(t); after != before {
					t.Errorf("before it was sent again:\n%s\nafter:\n%s", before, after)
				}
				if data[1] != nil && !slices.Contains(notOfScripts, verb.Verb) {
					if _, err := s.call(t, bob, verb.Verb, "key",
						data[1]); protocol.CodeOf(err) != protocol.CodeKeyReused {
						t.Errorf("another body: %v", err)
					}
				}
				s.stop()
				s.start()
				again, err = s.call(t, bob, verb.Verb, "key", data[0])
				if got := fmt.Sprint(again, err); got != a {
					t.Errorf("first answered %s, after a restart %s", a, got)
				}
			})
		})
	}
}

func TestARepeatedCommandIsAnsweredAfterItsSessionIsGone(t *testing.T) {
	name := "new"
	for what, c := range map[string]struct {
		verb protocol.Verb
		data any
	}{
		"deleted": {protocol.DoClose, protocol.CloseData{Delete: true}},
		"renamed": {protocol.DoRename, protocol.RenameData{Name: &name}},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newTestServer(t, `{"on":"*"}`, `{"wait":"never"}`)
				ann, bob := w.client("ann"), w.client("bob")
				id := do[protocol.CreateResult](t, ann, protocol.DoCreate, "", protocol.CreateData{Name: "old"}).Session
				w.send(ann, id, "go")
				cmd := protocol.Command{Command: c.verb, Session: "old", Key: "k", Data: protocol.MustEncode(c.data)}
				first := async(func() error { return ann.Do(t.Context(), cmd, nil) })
				second := async(func() error { return bob.Do(t.Context(), cmd, nil) })
				if a, b := <-first, <-second; a != nil || b != nil {
					t.Errorf("%v, %v", a, b)
				}
				if err := ann.Do(t.Context(), cmd, nil); err != nil {
					t.Errorf("later: %v", err)
				}
				cmd.Key = "another"
				if err := ann.Do(t.Context(), cmd, nil); protocol.CodeOf(err) != protocol.CodeNoSession {
					t.Errorf("with another key: %v", err)
				}
			})
		})
	}
}
