package replay

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/itchyny/gojq"

	"agentctl/protocol"
)

// A query is a jq program of a dialect's table. Its input is a message.
type query string

// facts are the variables of queries, by name.
type facts map[string]any

// variables are the names of facts. A fact that a player does not give is null.
var variables = []string{
	"$type",     // of the message
	"$scenario", // of the conversation
	"$conns",    // the number of its connections
	"$path",     // of the connection's URL
	"$requests", // the messages of the conversation's clients

	// Of agentctl's client in the run:
	"$states",     // of the sessions, by id
	"$state",      // of the command's session
	"$first",      // the first session's id
	"$restored",   // the id of a session that has another id at the server now
	"$subscribed", // the ids of sessions
	"$commands",   // the number of commands given
	"$sent",       // the types of the messages that no recorded one stands for yet
}

// compiled has the code of each query.
var compiled sync.Map

// run returns the first result, or nil and false. An empty query has the result null. It panics if
// the query fails: the table is then wrong.
func (q query) run(input any, with facts) (any, bool) {
	if q == "" {
		return nil, true
	}
	code, ok := compiled.Load(q)
	if !ok {
		parsed, err := gojq.Parse(string(q))
		if err == nil {
			code, err = gojq.Compile(parsed, gojq.WithVariables(variables))
		}
		if err != nil {
			panic(fmt.Errorf("%w in %s", err, q))
		}
		compiled.Store(q, code)
	}
	values := make([]any, len(variables))
	for i, name := range variables {
		values[i] = plain(with[name])
	}
	v, ok := code.(*gojq.Code).Run(plain(input), values...).Next()
	if err, failed := v.(error); failed {
		panic(fmt.Errorf("%w in %s of %s", err, q, protocol.MustEncode(input)))
	}
	return v, ok
}

// plain returns a value in the types of gojq.
func plain(v any) (p any) {
	if v != nil {
		_ = json.Unmarshal(protocol.MustEncode(v), &p) // what is encoded can be decoded
	}
	return p
}

// at returns the value at a path of fields, or nil.
func at(v any, path ...string) any {
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

// textAt returns the text at a path of fields, or "".
func textAt(v any, path ...string) string {
	text, _ := at(v, path...).(string)
	return text
}

// textsAt returns the texts at a path of fields. Lists on it count with all elements.
func textsAt(v any, path ...string) (texts []string) {
	list, isList := v.([]any)
	text, isText := v.(string)
	switch {
	case isList:
		for _, e := range list {
			texts = append(texts, textsAt(e, path...)...)
		}
	case len(path) > 0:
		return textsAt(at(v, path[0]), path[1:]...)
	case isText:
		return []string{text}
	}
	return texts
}
