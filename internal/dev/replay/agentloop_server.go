package replay

import "strings"

// agentloopScript is the agent of agentctl's server. SHELL is the name of the tool that runs
// commands.
const agentloopScript = `
{"window":200000}
{"pace":{"words":1,"delay":"10ms"}}
{"on":"TWO"}
{"think":"Two steps."}
{"tool":"SHELL","id":"first{n}","input":{"command":["touch","one.txt"]},"open":true}
{"tool":"SHELL","id":"second{n}","input":{"command":["touch","two.txt"]},"open":true}
{"ask":"command","command":"touch one.txt"}
{"ask":"command","command":"touch two.txt"}
{"tool":"SHELL","id":"first{n}","exit":0}
{"tool":"SHELL","id":"second{n}","exit":0}
{"say":"Both are there."}
{"on":"BADRUN"}
{"think":"It may fail."}
{"tool":"SHELL","id":"bad{n}","input":{"command":["false"]},"open":true}
{"ask":"command","command":"false"}
{"tool":"SHELL","id":"bad{n}","output":"no\n","exit":3}
{"say":"It failed."}
{"on":"RUN"}
{"think":"A command."}
{"say":"One moment."}
{"tool":"SHELL","id":"run{n}","input":{"command":["ls","-a"]},"open":true}
{"ask":"command","command":"ls -a","explain":"It lists the directory."}
{"tool":"SHELL","id":"run{n}","output":"a.txt\n","exit":0}
{"say":"That was it."}
{"on":"PATCH"}
{"think":"A change."}
{"tool":"SHELL","id":"patch{n}","input":{"command":["apply_patch","-"]},"open":true}
{"ask":"patch","patch":"*** Begin Patch\n*** Update File: a.txt\n@@\n-x\n+y\n*** End Patch","editable":true}
{"tool":"SHELL","id":"patch{n}","output":"Done.","exit":0}
{"say":"Changed."}
{"on":"ADD"}
{"think":"A file."}
{"tool":"SHELL","id":"add{n}","input":{"command":["apply_patch","-"]},"open":true}
{"ask":"patch","patch":"*** Begin Patch\n*** Add File: b.txt\n+x\n*** End Patch","editable":true}
{"tool":"SHELL","id":"add{n}","status":"denied"}
{"say":"Without it, then."}
{"on":"FAIL"}
{"say":"Well."}
{"fail":"the model refused"}
{"on":"SLOW"}
{"say":"One two three four five six.","delay":"400ms"}
{"on":"slow"}
{"say":"One two three four five six.","delay":"400ms"}
{"on":"tool"}
{"tool":"shell","id":"list{n}","kind":"execute","input":{"command":"ls"},"output":"a.txt\n","exit":0}
{"say":"Listed."}
{"on":"patch"}
{"ask":"patch","patch":"*** Begin Patch\n*** Update File: a.txt\n@@\n-x\n+y\n*** End Patch"}
{"say":"Changed."}
{"on":"ask"}
{"say":"May I?"}
{"ask":"command","command":"rm -r build","explain":"It removes the build."}
{"say":"It is {outcome}."}
{"on":"*"}
{"think":"A greeting."}
{"say":"You said: {message}"}
`

func serveAgentLoop(s *ServerPlayer) {
	shell := "local_shell"
	agentloopDialect().Each(s.Conversation, func(_ Step, m Message) {
		if m.Type == "response_item/function_call" {
			shell = "shell"
		}
	})
	s.Start(strings.ReplaceAll(agentloopScript, "SHELL", shell))
}

// agentloopAwaited reports whether agentctl's server must send a message of a real server too.
func agentloopAwaited(c *Conversation, m Message) bool {
	r := agentloopReader{conversation: c, skipped: map[string]bool{}, said: map[string]bool{}, parts: map[string]bool{}}
	agentloopDialect().Each(c, func(s Step, m Message) {
		if s.Direction == ToServer {
			r.input(s.Conn, m)
		} else if r.skips(s.Conn, m) {
			r.skipped[agentloopID(m)] = true
		}
	})
	return !r.skipped[agentloopID(m)]
}

// An agentloopReader reads a conversation, to tell the messages that agentctl's server does not
// send, or whose number depends on time.
type agentloopReader struct {
	conversation *Conversation
	skipped      map[string]bool   // by id of the envelope
	said         map[string]bool   // texts of users
	parts        map[string]bool   // text parts, by id
	last         map[string]string // of the turn: the last message of a type, by type

	loading    bool
	compacting bool // AgentLoop then runs a turn
	askedOn    int  // connection of the pending request, from 1; 0: none
	overtaken  bool // a message aborted the request; at agentctl's server it is queued, and the request stays
	outlived   bool // the request was decided on another connection; at AgentLoop it ended with the first
	stopped    bool // by no-exit, which ends the turn; AgentLoop asks its model once more
	asks       int  // for the context, not answered
}

func (r *agentloopReader) input(conn int, m Message) {
	switch m.Type {
	case "user_input":
		r.overtaken = r.askedOn != 0 && r.askedOn == conn+1
		for _, text := range agentloopTexts(m, "payload", "input", "content", "text") {
			r.said[text] = true
		}
	case "approval_response":
		r.outlived = r.askedOn != 0 && r.askedOn != conn+1
		r.askedOn, r.overtaken, r.stopped = 0, false, agentloopField(m, "review") == "no-exit"
	case "get_context_info":
		r.asks++
	case "manual_compact":
		r.compacting = true
	}
}

// skips reports whether agentctl's server does not send a message.
func (r *agentloopReader) skips(conn int, m Message) bool {
	switch {
	case r.overtaken:
		return true
	case r.compacting && m.Type != "context_compacted" && m.Type != "error" && r.asks == 0:
		r.compacting = m.Type != "loading_state" || agentloopField(m, "loading") == true
		return true
	}
	switch m.Type {
	case "loading_state":
		was := r.loading
		r.stopped = false
		r.loading, r.last = agentloopField(m, "loading") == true, map[string]string{}
		return !was && !r.loading // the Anthropic path ends a turn twice
	case "approval_request":
		r.askedOn = conn + 1
	case "agent_finished", "context_info": // for each answer of the model; agentctl's server: of the agent
		if m.Type == "context_info" && r.asks > 0 {
			r.asks--
			return false
		}
		if r.stopped && m.Type == "context_info" {
			return true
		}
		r.skipped[r.last[m.Type]] = true
		if r.last != nil {
			r.last[m.Type] = agentloopID(m)
		}
		return !r.loading // of a turn that another one overtook
	case "response_item/message/user": // else a denial's reason, which AgentLoop's model gets as a message
		return !r.said[strings.Join(agentloopTexts(m, "payload", "content", "text"), "")]
	case "response_item/message/assistant":
		id, _ := agentloopField(m, "id").(string)
		again := r.parts[id] // the number of deltas depends on time
		r.parts[id] = true
		return again || agentloopField(m, "status") == "incomplete" // a failure, repeated after the turn
	case "error": // agentctl's own answers of another version are no reference
		outlived := r.outlived
		r.compacting, r.outlived = false, false
		return outlived || !r.conversation.ServerIsReal()
	}
	return false
}

// agentloopID returns the id of a message's envelope.
func agentloopID(m Message) string { return strings.Join(agentloopTexts(m, "id"), "") }

// agentloopField returns a field of a message's payload.
func agentloopField(m Message, name string) any {
	v, _ := m.Value.(map[string]any)
	payload, _ := v["payload"].(map[string]any)
	return payload[name]
}

// agentloopTexts returns the texts at a path of fields. Lists on it count with all elements.
func agentloopTexts(m Message, path ...string) (texts []string) {
	var walk func(v any, path []string)
	walk = func(v any, path []string) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e, path)
			}
		case map[string]any:
			if len(path) > 0 {
				walk(v[path[0]], path[1:])
			}
		case string:
			if len(path) == 0 {
				texts = append(texts, v)
			}
		}
	}
	walk(m.Value, path)
	return texts
}
