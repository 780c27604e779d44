package e2e

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"agentctl/internal/dev/thorough"
	"agentctl/protocol"
	"agentctl/server/session"
	"agentctl/wsclient"
)

// schemaCompiler returns a compiler that has a schema of the documents.
func schemaCompiler(t *testing.T, name string) *jsonschema.Compiler {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(name, doc); err != nil {
		t.Fatal(err)
	}
	return c
}

// A frameJudge checks lines that clients and servers exchange against the schema of the protocol, with
// a validator that shares nothing with its generator. Safe for concurrent use.
type frameJudge struct {
	t *testing.T

	mu      sync.Mutex
	clients int
	lines   []sentLine
}

// A sentLine is one line of a client's connection.
type sentLine struct {
	client int
	text   []byte
}

// record makes a client hand its lines to the judge.
func (j *frameJudge) record(o *wsclient.Options) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.clients++
	client := j.clients
	o.OnFrame = func(f wsclient.Frame) {
		j.mu.Lock()
		defer j.mu.Unlock()
		for line := range bytes.Lines(f.Data) {
			if line = bytes.TrimSpace(line); len(line) > 0 {
				j.lines = append(j.lines, sentLine{client, bytes.Clone(line)})
			}
		}
	}
}

// judge checks all lines, and returns how many there were of each kind: event TYPE, command VERB,
// result VERB and error. Of each kind some lines are checked with faults, which the schema must
// refuse.
func (j *frameJudge) judge() map[string]int {
	j.mu.Lock()
	defer j.mu.Unlock()
	compiler, schemas, seen := schemaCompiler(j.t, "protocol.schema.json"), map[string]*jsonschema.Schema{}, map[string]int{}
	validate := func(def string, v any) error {
		if schemas[def] == nil {
			schemas[def] = compiler.MustCompile("protocol.schema.json" + def)
		}
		return schemas[def].Validate(v)
	}
	type request struct {
		client int
		id     any
	}
	sent := map[request]string{} // verb
	for _, line := range j.lines {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(line.text))
		if err != nil {
			j.t.Fatalf("%s: %v", line.text, err)
		}
		m := v.(map[string]any)
		var kind, body, envelope, result string // body is the field with the content
		switch {
		case m["type"] != nil:
			kind, body, envelope = fmt.Sprintf("event %s", m["type"]), "data", fmt.Sprintf("event.%s", m["type"])
		case m["command"] != nil:
			verb, _ := m["command"].(string)
			kind, body, envelope = "command "+verb, "data", "command."+verb
			sent[request{line.client, m["id"]}] = verb
		case m["error"] != nil:
			kind, body, envelope = "error", "error", "answer"
		default:
			verb := sent[request{line.client, m["id"]}]
			kind, body, envelope, result = "result "+verb, "result", "answer", "#/$defs/result."+verb
		}
		seen[kind]++
		valid := func() error { // of its kind
			if err := validate("#/$defs/"+envelope, m); err != nil || result == "" {
				return err
			}
			return validate(result, m["result"])
		}
		err = valid()
		if err == nil && seen[kind] <= thorough.Rounds(6, 20) { // slow
			err = validate("", m)
		}
		if err != nil {
			j.t.Errorf("the schema refuses the %s %.300s: %v", kind, line.text, err)
		}
		if seen[kind] <= thorough.Rounds(2, 3) {
			j.refuse(kind, m, valid)
			if content, ok := m[body].(map[string]any); ok {
				j.refuse(kind+": "+body, content, valid)
			}
		}
	}
	return seen
}

// refuse checks that an object of a line is not valid with an unknown field, and with a value of a
// wrong type in each field. It restores the object.
func (j *frameJudge) refuse(where string, object map[string]any, valid func() error) {
	object["unknown_field"] = "x"
	if valid() == nil {
		j.t.Errorf("%s: the schema accepts an unknown field", where)
	}
	delete(object, "unknown_field")
	for name, value := range maps.Clone(object) {
		if object[name] = []any{[]any{true}}; valid() == nil && !anyValue[where+"."+name] {
			j.t.Errorf("%s: the schema accepts any value of %s", where, name)
		}
		object[name] = value
	}
}

// anyValue are the fields that take any JSON.
var anyValue = map[string]bool{
	"result history: result.events": true, "command import: data.events": true, // events of any version
	"event tool.started: data.input": true, "event tool.input: data.input": true, "event raw: data.data": true,
}

// Every line that clients and the server exchange is valid in the schema, and a line with a fault is
// not. The lines come from every command, the events that follow, and random histories, which
// clients read raw and folded. Every type of event, every command and every result is among them.
func TestEveryLineIsValidInTheSchema(t *testing.T) {
	j := &frameJudge{t: t}
	var failed []*protocol.CommandType
	synctest.Test(t, func(t *testing.T) {
		w := newTestServer(t, commandFixtureScript...)
		s := w.newCommandFixture(t, w.create(w.client("ann")))
		s.c = w.client("bob", j.record)
		follower := w.client("eve", j.record)
		ctx, stop := context.WithCancel(t.Context())
		followed := async(func() *observer {
			return observe(ctx, follower, s.session, wsclient.SubscribeOptions{Since: logStart()},
				func(*protocol.Event) bool { return false })
		})
		watched := async(func() error {
			for _, err := range follower.Watch(ctx) {
				if err != nil {
					return err
				}
			}
			return nil
		})
		synctest.Wait()
		if w := observe(ctx, w.client("zoe", j.record), s.session, wsclient.SubscribeOptions{},
			func(*protocol.Event) bool { return true }); w.err != nil {
			t.Error(w.err)
		}
		time.Sleep(time.Minute) // heartbeats
		list := slices.Clone(protocol.Commands)
		slices.SortStableFunc(list, func(a, b protocol.CommandType) int { // close ends the session
			return boolCompare(a.Verb == protocol.DoClose, b.Verb == protocol.DoClose)
		})
		for i := range list {
			switch list[i].Verb {
			case protocol.DoHello, protocol.DoAck, protocol.DoUnsubscribe: // sent by the client itself
				continue
			}
			cmd := s.accessCommand(&list[i])
			if s.c.Do(t.Context(), cmd, nil) != nil { // errors are answers too
				failed = append(failed, &list[i])
			}
			synctest.Wait()
		}
		stop()
		<-followed
		<-watched
	})
	for _, command := range failed { // an earlier command took what it acts on
		synctest.Test(t, func(t *testing.T) {
			w := newTestServer(t, commandFixtureScript...)
			s := w.newCommandFixture(t, w.create(w.client("ann")))
			s.c = w.client("bob", j.record)
			_ = s.c.Do(t.Context(), s.accessCommand(command), nil)
		})
	}
	readHistories(t, j)
	seen := j.judge()
	var want []string
	for i := range protocol.EventTypes {
		want = append(want, "event "+string(protocol.EventTypes[i].Type))
	}
	for i := range protocol.Commands {
		verb := protocol.Commands[i].Verb
		if want = append(want, "command "+string(verb)); verb != protocol.DoAck { // it has no answer
			want = append(want, "result "+string(verb))
		}
	}
	for _, kind := range want {
		if kind == "event client.lag" { // of clients that are slow, which depends on the machine
			continue
		}
		if missing := slices.Contains(notReached, kind); missing != (seen[kind] == 0) {
			t.Errorf("%s: %d lines, in notReached: %v", kind, seen[kind], missing)
		}
	}
	if seen["error"] == 0 {
		t.Error("no error")
	}
}

// notReached are kinds of lines that this test does not produce: of agents with a process or a
// conversation, and of commands whose examples name something that is not there. internal/dev/schema
// checks the example of each in the manual.
var notReached = []string{
	"event agent.process", "result blob", "result approval.page", "result undo", "result retry", "result fork",
}

// readHistories lets clients read random histories, raw and folded.
func readHistories(t *testing.T, j *frameJudge) {
	t.Helper()
	var drawn []*randomHistory
	for i := range always {
		h := aRandomHistory.Example(i)
		drawn = append(drawn, h.renumbered(fmt.Sprintf("s_history%02d", i), func(int) bool { return true }))
	}
	dir := t.TempDir()
	storeHistories(t, dir, drawn)
	running, err := serve(dir, idleAgents{}, func(s session.Store) session.Store { return s })
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := running.close(); err != nil {
			t.Error(err)
		}
	}()
	for _, raw := range []bool{true, false} {
		o := wsclient.Options{Name: "ann", Dial: running.dial}
		j.record(&o)
		c := wsclient.New("ws://server", o)
		for _, h := range drawn {
			w := observe(t.Context(), c, h.id, wsclient.SubscribeOptions{Since: logStart(), Raw: raw},
				reached(uint64(len(h.events))))
			if w.err != nil {
				t.Errorf("%s: %v", h.id, w.err)
			}
		}
		_ = c.Close()
	}
}

// boolCompare orders false before true.
func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
