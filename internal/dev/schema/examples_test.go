package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"agentctl/protocol"
)

const manual = "../../../docs/protocol.md"

// examples checks the lines of the manual's JSON blocks. An answer belongs to the command with its
// id in the same block.
type examples struct {
	schemas *compiled
	shown   map[string]bool // event TYPE, command VERB, result VERB
}

func TestEveryExampleOfTheManualIsTrue(t *testing.T) {
	text, err := os.ReadFile(manual)
	if err != nil {
		t.Fatal(err)
	}
	ex := &examples{schemas: compile(t), shown: map[string]bool{}}
	for _, b := range blocks(string(text)) {
		for _, err := range ex.block(b.text) {
			t.Errorf("%s:%d: %v", manual, b.line, err)
		}
	}
	for _, et := range protocol.EventTypes {
		ex.want(t, "event "+string(et.Type))
	}
	for _, ct := range protocol.Commands {
		ex.want(t, "command "+string(ct.Verb))
		if ct.Verb != protocol.DoAck { // it has no answer
			ex.want(t, "result "+string(ct.Verb))
		}
	}
}

func TestManualExplainsEveryCode(t *testing.T) {
	text, err := os.ReadFile(manual)
	if err != nil {
		t.Fatal(err)
	}
	codes := errorCodes(t)
	for _, n := range []int{protocol.CloseGoingAway, protocol.ClosePolicy, protocol.CloseTooLarge, protocol.CloseSlow} {
		codes = append(codes, strconv.Itoa(n))
	}
	for _, code := range codes {
		if !strings.Contains(string(text), "| `"+code+"` |") {
			t.Errorf("%s: no row for code %s", manual, code)
		}
	}
}

// errorCodes returns the constants of type protocol.Code.
func errorCodes(t *testing.T) []string {
	t.Helper()
	codes, err := comments{}.values(reflect.TypeFor[protocol.Code]())
	if err != nil {
		t.Fatal(err)
	}
	if len(codes) == 0 {
		t.Fatal("found no error code")
	}
	return codes
}

// The manual has one row for each role that adds commands: a command stands in the row of the
// weakest role that may send it, by name or as `family.*`.
func TestManualListsEveryCommandUnderItsRole(t *testing.T) {
	text, err := os.ReadFile(manual)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[protocol.Role]string{}
	for line := range strings.Lines(string(text)) {
		for _, r := range protocol.Roles {
			if strings.HasPrefix(line, "| `"+string(r)+"` ") {
				_, rows[r], _ = strings.Cut(line[2:], "|")
			}
		}
	}
	for _, c := range protocol.Commands {
		family, _, _ := strings.Cut(string(c.Verb), ".")
		for r, row := range rows {
			named := strings.Contains(row, "`"+string(c.Verb)+"`")
			if family != string(c.Verb) {
				named = named || strings.Contains(row, "`"+family+".*`")
			}
			if named != (r == c.Role) {
				t.Errorf("%s: roles: %s is in the row of %s: %v; protocol.Commands requires %s", manual, c.Verb, r,
					named, c.Role)
			}
		}
	}
}

func TestFalseExamplesAreCaught(t *testing.T) {
	for _, tt := range []struct{ name, block string }{
		{"unknown field", `{"id":"1","command":"ping","mood":"good"}`},
		{"unknown field in data", `{"id":"1","command":"ack","session":"s","data":{"seq":1,"mood":"good"}}`},
		{"unknown field in a result", `{"id":"1","command":"ping"}` + "\n" + `{"id":"1","result":{"mood":"good"}}`},
		{"result of another command", `{"id":"1","command":"send","session":"s","data":{"text":"x"}}` + "\n" +
			`{"id":"1","result":{"interrupted":true}}`},
		{"answer without a command", `{"id":"1","result":{}}`},
		{"neither", `{"hello":"world"}`},
		{"no JSON", `{"id":`},
	} {
		ex := &examples{schemas: compile(t), shown: map[string]bool{}}
		if len(ex.block(tt.block)) == 0 {
			t.Errorf("%s: accepted %s", tt.name, tt.block)
		}
	}
}

func (ex *examples) want(t *testing.T, what string) {
	t.Helper()
	if !ex.shown[what] {
		t.Errorf("%s: no example of %s", manual, what)
	}
}

// block checks the lines of one block and returns what is wrong with them.
func (ex *examples) block(text string) []error {
	var wrong []error
	asked := map[string]protocol.Verb{}
	dec := json.NewDecoder(strings.NewReader(text))
	for {
		var line json.RawMessage
		if err := dec.Decode(&line); errors.Is(err, io.EOF) {
			return wrong
		} else if err != nil {
			return append(wrong, err)
		}
		if err := ex.line(line, asked); err != nil {
			wrong = append(wrong, fmt.Errorf("%w in %s", err, line))
		}
	}
}

func (ex *examples) line(line json.RawMessage, asked map[string]protocol.Verb) error {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(line, &keys); err != nil {
		return err
	}
	if err := ex.schemas.check("", line); err != nil {
		return err
	}
	switch {
	case keys["type"] != nil:
		return ex.event(line)
	case keys["command"] != nil:
		return ex.command(line, asked)
	}
	return ex.answer(line, asked)
}

func (ex *examples) event(line json.RawMessage) error {
	var e protocol.Event
	if err := protocol.DecodeStrict(line, &e); err != nil {
		return err
	}
	for _, et := range protocol.EventTypes {
		if et.Type == e.Type {
			ex.shown["event "+string(e.Type)] = true
			return protocol.DecodeStrict(e.Data, et.New())
		}
	}
	return fmt.Errorf("unknown type %s", e.Type)
}

func (ex *examples) command(line json.RawMessage, asked map[string]protocol.Verb) error {
	var compact bytes.Buffer
	if err := json.Compact(&compact, line); err != nil {
		return err
	}
	c, err := protocol.DecodeCommand(compact.Bytes())
	if err != nil {
		return err
	}
	ex.shown["command "+string(c.Command)] = true
	asked[c.ID] = c.Command
	ct := protocol.CommandOf(c.Command)
	if ct.Changes != (c.Key != "") {
		return fmt.Errorf("takes a key: %v", ct.Changes)
	}
	return c.DecodeData(ct.Data())
}

func (ex *examples) answer(line json.RawMessage, asked map[string]protocol.Verb) error {
	var a protocol.Answer
	if err := protocol.DecodeStrict(line, &a); err != nil {
		return err
	}
	if a.Error != nil {
		return nil
	}
	verb, ok := asked[a.ID]
	if !ok {
		return fmt.Errorf("no command with id %q in this block", a.ID)
	}
	if err := ex.schemas.check("result."+string(verb), a.Result); err != nil {
		return err
	}
	ex.shown["result "+string(verb)] = true
	return protocol.DecodeStrict(a.Result, protocol.CommandOf(verb).Result())
}

type block struct {
	line int // number of its first line
	text string
}

// blocks returns the fenced blocks of type json.
func blocks(text string) []block {
	var found []block
	var in *block
	for i, line := range strings.Split(text, "\n") {
		switch {
		case in == nil && strings.TrimSpace(line) == "```json":
			in = &block{line: i + 2}
		case in != nil && strings.TrimSpace(line) == "```":
			found = append(found, *in)
			in = nil
		case in != nil:
			in.text += line + "\n"
		}
	}
	return found
}
