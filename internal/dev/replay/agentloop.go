package replay

import (
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/agentloop"
)

func agentloopDialect() *Dialect {
	return &Dialect{
		Dialect: agentloop.Dialect,
		Grammar: Grammar{
			Split: oneMessage(agentloopType), TypeFields: []string{"type", "role"}, IDs: []string{"id", "call_id"},
		},
		Opened:  `$path | ltrimstr("/") | if . == "" then "agentloop" else . end`,
		History: true,
		Session: `""`,
		Commands: []Command{
			{
				Type: "user_input", Verb: protocol.DoSend, Data: `{text: .payload.input[0].content[0].text | strings}`,
				// the user was warned, and insists
				Again: `select($state.approvals) | {text: .payload.input[0].content[0].text, front: true}`,
			},
			{Type: "approval_response", Verb: protocol.DoApprove, Data: `.payload as $p | {
				yes: "allow_once", always: "allow_always", "no-continue": "deny", "no-exit": "deny_stop",
					explain: "explain"}[$p.review // ""] as $decision
				| ($p.applyPatch.patch // "") as $patch | $state.approvals[0] | select(. and $decision)
				| {request, decision: $decision, reason: $p.customDenyMessage}
				+ if $decision == "allow_once" and $patch != (.patch // "") then {input: {patch: $patch}} else {} end`},
			{Type: "get_context_info", Verb: protocol.DoContext},
			{Type: "manual_compact", Verb: protocol.DoCompact},
		},
		SameClient: (*Conversation).Reconnects,
		UnsentIn:   agentloopUnsent,
		Exceptions: map[string]string{
			"error.payload.details: null, not [object]": "the document's form of AgentLoop not initialized",
		},
		Scripted: func(c *Conversation) string {
			shell := "local_shell"
			for _, s := range c.Steps {
				if s.Frame != nil && strings.Contains(*s.Frame, `"function_call"`) {
					shell = "shell"
				}
			}
			return strings.ReplaceAll(agentloopScript, "SHELL", shell)
		},
	}
}

// agentloopType returns the type of a message, and the type and role of an item.
func agentloopType(_ Direction, v any) string {
	typ := textAt(v, "type")
	if item, ok := at(v, "payload", "type").(string); ok && typ == "response_item" {
		typ += "/" + item
		if role, ok := at(v, "payload", "role").(string); ok {
			typ += "/" + role
		}
	}
	return typ
}

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

// agentloopUnsent returns whether agentctl's server need not send a message of a real server.
func agentloopUnsent(c *Conversation) func(Message) bool {
	var (
		skipped = map[string]bool{} // by id of the envelope
		said    = map[string]bool{} // texts of users
		parts   = map[string]bool{} // text parts, by id
		last    map[string]string   // of the turn: the last message of a type, by type

		loading    bool
		compacting bool // AgentLoop then runs a turn
		askedOn    int  // connection of the pending request, from 1; 0: none
		overtaken  bool // a message aborted the request; at agentctl's server it is queued, and the request stays
		outlived   bool // the request was decided on another connection; at AgentLoop it ended with the first
		stopped    bool // by no-exit, which ends the turn; AgentLoop asks its model once more
		asks       int  // for the context, not answered
	)
	input := func(conn int, m Message) {
		switch m.Type {
		case "user_input":
			overtaken = askedOn == conn
			for _, text := range textsAt(m.Value, "payload", "input", "content", "text") {
				said[text] = true
			}
		case "approval_response":
			outlived = askedOn != 0 && askedOn != conn
			askedOn, overtaken, stopped = 0, false, textAt(m.Value, "payload", "review") == "no-exit"
		case "get_context_info":
			asks++
		case "manual_compact":
			compacting = true
		}
	}
	skips := func(conn int, m Message) bool {
		id, payload := textAt(m.Value, "id"), at(m.Value, "payload")
		now := at(payload, "loading") == true
		switch {
		case overtaken:
			return true
		case compacting && m.Type != "context_compacted" && m.Type != "error" && asks == 0:
			compacting = m.Type != "loading_state" || now
			return true
		}
		switch m.Type {
		case "loading_state":
			was := loading
			stopped, loading, last = false, now, map[string]string{}
			return !was && !loading // the Anthropic path ends a turn twice
		case "approval_request":
			askedOn = conn
		case "agent_finished", "context_info": // for each answer of the model; agentctl's server: of the agent
			if m.Type == "context_info" && asks > 0 {
				asks--
				return false
			}
			if m.Type == "context_info" && stopped {
				return true
			}
			skipped[last[m.Type]] = true
			if last != nil {
				last[m.Type] = id
			}
			return !loading // of a turn that another one overtook
		case "response_item/message/user": // else a denial's reason, which AgentLoop's model gets as a message
			return !said[strings.Join(textsAt(payload, "content", "text"), "")]
		case "response_item/message/assistant":
			part := textAt(payload, "id")
			again := parts[part] // the number of deltas depends on time
			parts[part] = true
			return again || at(payload, "status") == "incomplete" // a failure, repeated after the turn
		case "error": // agentctl's own answers of another version are no reference
			was := outlived
			compacting, outlived = false, false
			return was || !c.ServerIsReal()
		}
		return false
	}
	agentloopDialect().Each(c, func(i int, _ []any, m Message) {
		if s := c.Steps[i]; s.Direction == ToServer {
			input(s.Conn+1, m)
		} else if skips(s.Conn+1, m) {
			skipped[textAt(m.Value, "id")] = true
		}
	})
	return func(m Message) bool { return skipped[textAt(m.Value, "id")] }
}
