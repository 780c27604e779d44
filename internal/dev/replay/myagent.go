package replay

import (
	"encoding/json"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/myagent"
	"agentctl/server/embedded"
)

func myagentDialect() *Dialect {
	const (
		content = `select($state) | ((.content | objects) // {})`
		tasks   = `[.tasks // [] | .[] | {id: (.id | if . == null then "" else tostring end), title, description: .objective}]`
		taskID  = content + ` | {task: (.task_id | if . == null then "" else tojson end)}`
	)
	return &Dialect{
		Dialect: myagent.Dialect,
		Grammar: Grammar{
			Split: oneMessage(myagentType), TypeFields: []string{"event", "action", "scope"},
			IDs: []string{
				"session_id", "step_id", "event_id", "connection_id", "last_event_id", "orig_event_id",
				"original_session_id",
			},
			OpenKeys: func(path string) bool { // keys are names of tools, agents, models or arguments
				return slices.Contains([]string{
					"args", "tool_args", "tool_states", "output", "aggregate_output", "created", "by_agent", "by_tool",
					"by_model",
				}, path[strings.LastIndexByte(path, '.')+1:])
			},
		},
		Session: `.session_id | if $restored == "" or $states[. // ""] then . else $restored end`,
		Commands: []Command{
			{Type: "user.create_session", Verb: protocol.DoSubscribe, Session: `"work"`, Expected: sent},
			{
				Type: "user.reconnect_with_state", Verb: protocol.DoSubscribe, // the session of the last connection
				Session: `$first`, Data: `select(.signed_state and $commands == 1 and $first)`,
			},
			{
				Type: "user.reconnect_with_state", Verb: protocol.DoRestore, Session: `""`,
				Data: `select(.signed_state) | {state: {version: "myagent", state: (.signed_state | tojson | @base64)}}`,
			},
			{
				Type: "user.message", Verb: protocol.DoSend, // during a turn the client keeps it in its queue
				Data: `select($state and $state.turn == null) | {text: ((.content | strings) // "")}`,
			},
			{
				Type: "user.solve_tasks", Verb: protocol.DoPlanRun,
				Data: content + ` | {tasks: ` + tasks + `, question, summary: .plan_summary} | select(.tasks != [])`,
			},
			{
				Type: "user.response", Verb: protocol.DoApprove,
				Data: `.step_id as $id | select(any($state.approvals[]?; .request == $id)) | ` + content + ` | {request: $id,
					reason, decision: (if .confirmed or .approved then "allow_once" else "deny" end)}
					+ if .tasks then {input: {tasks: ` + tasks + `}} else {} end`,
			},
			{Type: "user.response", Data: `select($state)`, Expected: sent}, // sent with user.replan
			{
				Type: "user.replan", Verb: protocol.DoApprove,
				Data: `select($state.approvals) | ` + content + ` | {request: $state.approvals[0].request, decision: "deny",
					reason: ((.question // "") + (.reason // "")), input: {replan: true}}`,
			},
			{Type: "user.cancel", Verb: protocol.DoInterrupt, Data: `select($state) | {}`},
			{Type: "user.cancel_task", Verb: protocol.DoTaskCancel, Data: taskID},
			{Type: "user.restart_task", Verb: protocol.DoTaskRestart, Data: taskID},
			// at the end of a turn the client requests it without a command
			{Type: "user.request_state", Data: `select($state and any($sent[]?; . == "user.request_state"))`},
			{Type: "user.request_state", Verb: protocol.DoExport, Data: `select($state) | null`},
			// only once for a seq
			{Type: "user.ack", Verb: protocol.DoAck, Data: `select($state) | {seq: $state.seq}`, Expected: sent},
		},
		SameClient: func(c *Conversation) bool { // the first connection was cut, and the second restores its session
			for _, s := range c.Steps {
				if s.Close != nil {
					return s.Close.Code == 1006 && len(c.Conns()) == 2 && c.Reconnects()
				}
			}
			return false
		},
		Options: func(o *embedded.Options) error {
			o.Secret = []byte(strings.Repeat("k", 32))
			return nil
		},
		Prepare: prepareMyAgent,
		Unsent: []Unsent{
			{"agent.partial_answer", "", "their number depends on time"},
			{"agent.thinking", "", "their number depends on time"},
			{"agent.llm_message", "", "a debugging option of the real server"},
			{"agent.state_exported", `.metadata.orig_seq`, "a replay need not repeat it"},
			{"plan.coercion_error", "", "agentctl's tasks may have any id"},
			{"system.error", `.content | strings | endswith("user.reconnect")`, "agentctl's server knows it"},
			{"agent.final_answer", `.content == "Plan was cancelled"`, "agentctl interrupts the turn"},
			{"agent.final_answer", `.content | strings | contains("invalid tasks")`, "see plan.coercion_error"},
			{"agent.error", `.content == "Session not found" and $conns > 1`, "a session outlives its connection"},
			{"agent.error", `.content | strings | contains("currently running")`, "a message is queued"},
			{"agent.error", `.content | strings | contains("does not belong")`, "sessions have any number of connections"},
			{"agent.error", `.content | strings | contains("already active")`, "a restore makes another session"},
			{"agent.error", `.content | strings | contains("invalid literal")`, "a task's id may be any text"},
			{
				"agent.error", `.content | strings | contains("does not support cancel_")`,
				"a notice reports that there is no such task or plan",
			},
		},
		Own: map[string]string{
			"system.notice/native":      "native events without a frame of the protocol",
			"system.notice/reconnected": "agentctl's server knows user.reconnect",
			"system.notice/response":    "a late answer is explained; the real server ignores it",
			"error.retry":               "the protocol's document announces retries so; the real server's notice is sent too",
		},
		Exceptions: myagentExceptions(),
		Silent: map[string]string{
			"agent.partial_answer/final": "it ends an answer that the final answer has ended already",
			"system.connected":           "only its time is used, and times are not in the transcript",
			"system.heartbeat":           "it shows only that the connection is alive",
		},
		Script: `
{"pace":{"words":1,"delay":"40ms"}}
{"on":"weather"}
{"think":"The weather has to be looked up."}
{"tool":"get_weather","id":"call{n}","input":{"city":"Lima"},"open":true}
{"ask":"tool","request":"r{n}_get_weather","name":"get_weather","title":"Look up the weather","tool":"call{n}","input":{"city":"Lima"},"then":[{"emit":"tool.output","data":{"tool":"call{n}","text":"Lima: 19 degrees"}},{"emit":"tool.ended","data":{"tool":"call{n}","status":"completed"}}],"else":[{"emit":"tool.ended","data":{"tool":"call{n}","status":"denied","error":"denied by the user"}}]}
{"think":"That is all."}
{"tool":"terminate","input":{"status":"success"},"output":"over"}
{"say":"Here is the weather."}
{"on":"readfile"}
{"think":"A file has to be read."}
{"tool":"read_file","input":{"path":"a.txt"},"output":"one\ntwo"}
{"tool":"terminate","input":{"status":"success"},"output":"over"}
{"say":"The file has two lines."}
{"on":"badtool"}
{"think":"This will fail."}
{"tool":"bad","input":{},"status":"failed","error":"the disk is full"}
{"tool":"terminate","input":{"status":"success"},"output":"over"}
{"say":"It failed."}
{"on":"boom"}
{"retry":"the model is busy","limit":3,"delay":"500ms","times":2}
{"fail":"the model is busy"}
{"on":"failonce"}
{"retry":"the model is busy","limit":3,"delay":"500ms"}
{"think":"Another attempt."}
{"tool":"terminate","input":{"status":"success"},"output":"over"}
{"say":"It worked."}
{"on":"long"}
{"think":"A long answer."}
{"tool":"terminate","input":{"status":"success"},"output":"over"}
{"say":"word ","times":200}
{"on":"think"}
{"plan":"","delay":"3s","summary":"two slides","confirm":true,"parallel":2,"tasks":[{"id":"1","title":"Cover","description":"first","steps":[{"sleep":"300ms"}],"result":"{\"page\":1}"},{"id":"2","title":"Body","description":"second","steps":[{"sleep":"300ms"}],"result":"{\"page\":2}"},{"id":"3","title":"Back","description":"third","steps":[{"sleep":"300ms"}],"result":"{\"page\":3}"}],"aggregate":"three slides"}
{"on":"slow slides"}
{"plan":"","summary":"three slides","confirm":true,"parallel":2,"tasks":[{"id":"1","title":"Cover","description":"first","steps":[{"sleep":"5s"}],"result":"{\"page\":1}"},{"id":"2","title":"Body","description":"second","steps":[{"sleep":"5s"}],"result":"{\"page\":2}"},{"id":"3","title":"Back","description":"third","steps":[{"sleep":"5s"}],"result":"{\"page\":3}"}],"aggregate":"three slides"}
{"on":"模板"}
{"plan":"","summary":"three slides","confirm":true,"parallel":2,"tasks":[{"id":"1","title":"Cover","description":"first","steps":[{"sleep":"300ms"}],"result":"{\"page\":1}"},{"id":"2","title":"Body","description":"second","steps":[{"sleep":"300ms"}],"result":"{\"page\":2}"},{"id":"3","title":"Back","description":"third","steps":[{"sleep":"300ms"}],"result":"{\"page\":3}"}],"aggregate":"three slides"}
{"on":"slides"}
{"plan":"","summary":"three slides","confirm":true,"parallel":2,"tasks":[{"id":"1","title":"Cover","description":"first","steps":[{"sleep":"300ms"}],"result":"{\"page\":1}"},{"id":"2","title":"Body","description":"second","steps":[{"sleep":"300ms"}],"result":"{\"page\":2}"},{"id":"3","title":"Back","description":"third","steps":[{"sleep":"300ms"}],"result":"{\"page\":3}"}],"aggregate":"three slides","else":[{"say":"The plan was declined."}]}
{"on":"*"}
{"think":"An answer."}
{"tool":"terminate","input":{"status":"success"},"output":"over"}
{"say":"A short answer."}
`,
	}
}

// myagentType returns a message's event, with what else its shape depends on.
func myagentType(_ Direction, v any) string {
	// without a namespace that a server may be configured to use
	event := strings.TrimPrefix(textAt(v, "event"), "acme.")
	meta, _ := at(v, "metadata").(map[string]any)
	content, _ := at(v, "content").(map[string]any)
	action := textAt(v, "metadata", "action")
	switch {
	case event == "system.notice" && meta["attempt"] != nil:
		return event + "/retry"
	case event == "system.notice" && (meta["data"] != nil || action == ""):
		return event + "/native"
	case event == "system.notice":
		return event + "/" + action
	case event == "agent.user_confirm" && meta["scope"] == "plan":
		return event + "/plan"
	case event == "agent.partial_answer" && meta["is_final"] == true:
		return event + "/final"
	case event == "agent.thinking" && meta["streaming"] == true:
		return event + "/streaming"
	case event == "user.response" && content["tasks"] != nil:
		return event + "/tasks"
	}
	return event
}

// prepareMyAgent replaces a recorded signed state by the one that agentctl's server exported in its
// place. A state with another signature gets a wrong one.
func prepareMyAgent(p *serverPlayer, frame string) string {
	var m map[string]any
	if json.Unmarshal([]byte(frame), &m) != nil || m["event"] != "user.reconnect_with_state" {
		return frame
	}
	given, _ := m["signed_state"].(map[string]any)
	exported := p.received("agent.state_exported")
	if given == nil || given["checksum"] == "x" || len(exported) == 0 {
		return frame
	}
	own := plain(at(exported[len(exported)-1].Value, "metadata", "signed_state")).(map[string]any)
	m["signed_state"] = own
	signed := false // by the recorded server
	for _, s := range p.conversation.Steps {
		signed = signed || s.Frame != nil && s.Direction == ToClient &&
			strings.Contains(*s.Frame, "agent.state_exported") && strings.Contains(*s.Frame, given["signature"].(string))
	}
	if !signed {
		own["signature"] = given["signature"]
	}
	return string(protocol.MustEncode(m))
}

// myagentExceptions returns the differences of agentctl's messages.
func myagentExceptions() map[string]string {
	const output = "an output may be any JSON"
	all := map[string]string{
		"system.connected.content: object, not [string]": "the document has version and capabilities there",

		"plan.completed.metadata.metrics: missing":     "agentctl has no metrics of agents, tools and models",
		"pipeline.completed.metadata.metrics: missing": "agentctl has no metrics of agents, tools and models",

		"solver.completed.content.result.output: string, not [object]":      output,
		"aggregate.completed.content.output: string, not [object]":          output,
		"pipeline.completed.content.aggregate_output: string, not [object]": output,
	}
	for _, of := range []string{
		"plan.completed.content.tasks[]", "solver.start.content.task", "solver.completed.content.task",
		"aggregate.start.content.context.tasks[]", "aggregate.start.content.solver_results[].task",
		"aggregate.completed.content.context.tasks[]", "aggregate.completed.content.solver_results[].task",
		"pipeline.completed.content.context.tasks[]", "pipeline.completed.content.solver_results[].task",
	} {
		all[of+".id: string, not [number]"] = "agentctl's tasks may have any id"
		if results, ok := strings.CutSuffix(of, ".task"); ok {
			all[results+".output: string, not [object]"] = output
		}
	}
	return all
}
