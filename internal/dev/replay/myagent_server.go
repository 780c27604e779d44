package replay

import (
	"encoding/json"
	"slices"
	"strings"

	"agentctl/protocol"
)

func serveMyAgent(s *ServerPlayer) {
	s.Options.Secret = []byte(strings.Repeat("k", 32))
	s.Start(myagentScript)
}

// myagentScript is an agent that does what the agents of the conversations do.
const myagentScript = `
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
`

// prepareMyAgent replaces a recorded signed state by the one that agentctl's server exported in its
// place. A state with another signature gets a wrong one.
func prepareMyAgent(s *ServerPlayer, frame string) string {
	var m map[string]any
	if json.Unmarshal([]byte(frame), &m) != nil || m["event"] != "user.reconnect_with_state" {
		return frame
	}
	given, _ := m["signed_state"].(map[string]any)
	exported := s.Received("agent.state_exported")
	if given == nil || given["checksum"] == "x" || len(exported) == 0 {
		return frame
	}
	var own struct {
		Metadata struct {
			SignedState map[string]any `json:"signed_state"`
		}
	}
	_ = json.Unmarshal(protocol.MustEncode(exported[len(exported)-1].Value), &own)
	m["signed_state"] = own.Metadata.SignedState
	if !strings.Contains(s.exportedStates(), given["signature"].(string)) {
		own.Metadata.SignedState["signature"] = given["signature"]
	}
	return string(protocol.MustEncode(m))
}

// exportedStates returns the conversation's frames with an exported state.
func (p *ServerPlayer) exportedStates() string {
	var b strings.Builder
	for _, s := range p.Conversation.Steps {
		if s.Frame != nil && s.Direction == ToClient && strings.Contains(*s.Frame, "agent.state_exported") {
			b.WriteString(*s.Frame)
		}
	}
	return b.String()
}

// awaitedMyAgent reports whether agentctl's server sends a message of the real server too.
func awaitedMyAgent(c *Conversation, m Message) bool {
	v, _ := m.Value.(map[string]any)
	content, _ := v["content"].(string)
	meta, _ := v["metadata"].(map[string]any)
	switch event, _, _ := strings.Cut(m.Type, "/"); event {
	case "agent.partial_answer", "agent.thinking":
		return false // their number depends on time
	case "agent.llm_message":
		return false // a debugging option of the real server
	case "agent.state_exported":
		return meta["orig_seq"] == nil // a replay need not repeat it
	case "plan.coercion_error":
		return false // agentctl's tasks may have any id
	case "system.error":
		return !strings.HasSuffix(content, "user.reconnect") // agentctl's server knows it
	case "agent.final_answer":
		return content != "Plan was cancelled" && // agentctl interrupts the turn
			!strings.Contains(content, "invalid tasks") // see plan.coercion_error
	case "agent.error":
		if content == "Session not found" {
			return len(c.Conns()) == 1 // a session outlives its connection
		}
		return !slices.ContainsFunc(myagentErrors, func(text string) bool { return strings.Contains(content, text) })
	}
	return true
}

// myagentErrors are texts of errors that agentctl's server does not send.
var myagentErrors = []string{
	"currently running",        // a message is queued
	"does not belong",          // a session has any number of connections
	"already active",           // a restore makes a session of its own
	"invalid literal",          // of a task's id, which may be any text
	"does not support cancel_", // a notice tells that there is no such task or plan
}

var ownMyAgent = map[string]string{
	"system.notice/native":      "native events without a frame of the protocol",
	"system.notice/reconnected": "agentctl's server knows user.reconnect",
	"system.notice/response":    "a late answer is explained; the real server ignores it",
	"error.retry":               "the protocol's document announces retries so; the real server's notice is sent too",
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

var silentMyAgent = map[string]string{
	"agent.partial_answer/final": "it ends an answer that the final answer has ended already",
	"system.connected":           "only its time is used, and times are not in the transcript",
	"system.heartbeat":           "it tells only that the connection is alive",
}
