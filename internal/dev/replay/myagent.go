package replay

import (
	"encoding/json"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/myagent"
)

// myagentDialect describes MyAgent.
func myagentDialect() *Dialect {
	return &Dialect{
		Dialect: myagent.Dialect,
		Grammar: Grammar{
			Split: splitMyAgent, OpenKeys: openMyAgentKeys, TypeFields: []string{"event", "action", "scope"},
			IDs: []string{
				"session_id", "step_id", "event_id", "connection_id", "last_event_id", "orig_event_id",
				"original_session_id",
			},
		},
		Opened:     func(*ClientConn) {},
		Cause:      causeMyAgent,
		SameClient: myagentReconnects,
		Serve:      serveMyAgent,
		Prepare:    prepareMyAgent,
		Awaited:    awaitedMyAgent,
		Own:        ownMyAgent,
		Exceptions: myagentExceptions(),
		Silent:     silentMyAgent,
	}
}

// splitMyAgent tells messages by their event and what else decides their shape.
func splitMyAgent() func(Direction, []any) []Message {
	return func(_ Direction, frame []any) (list []Message) {
		for _, v := range frame {
			m, _ := v.(map[string]any)
			typ, _ := m["event"].(string)
			typ = strings.TrimPrefix(typ, "acme.") // a namespace that a server may be configured to use
			list = append(list, Message{typ + myagentVariant(typ, m), v})
		}
		return list
	}
}

// myagentVariant returns what tells messages of one event apart.
func myagentVariant(event string, m map[string]any) string {
	meta, _ := m["metadata"].(map[string]any)
	content, _ := m["content"].(map[string]any)
	action, _ := meta["action"].(string)
	switch {
	case event == "system.notice" && meta["attempt"] != nil:
		return "/retry"
	case event == "system.notice" && (meta["data"] != nil || action == ""):
		return "/native"
	case event == "system.notice":
		return "/" + action
	case event == "agent.user_confirm" && meta["scope"] == "plan":
		return "/plan"
	case event == "agent.partial_answer" && meta["is_final"] == true:
		return "/final"
	case event == "agent.thinking" && meta["streaming"] == true:
		return "/streaming"
	case event == "user.response" && content["tasks"] != nil:
		return "/tasks"
	}
	return ""
}

// openMyAgentKeys reports the objects whose keys are names of tools, agents, models or arguments.
func openMyAgentKeys(_, path string) bool {
	for _, end := range []string{
		".args", ".tool_args", ".tool_states", ".output", ".aggregate_output", ".created", ".by_agent", ".by_tool",
		".by_model",
	} {
		if strings.HasSuffix(path, end) {
			return true
		}
	}
	return false
}

// myagentReconnects reports whether the first connection was cut and the second restores its
// session.
func myagentReconnects(c *Conversation) bool {
	conns := c.Conns()
	cut := slices.IndexFunc(c.Steps, func(s Step) bool { return s.Close != nil && s.Close.Code == 1006 })
	if len(conns) != 2 || cut < 0 {
		return false
	}
	return slices.IndexFunc(c.Steps, func(s Step) bool { return s.Open && s.Conn == conns[1] }) > cut
}

// A myagentRequest is a message of a MyAgent client.
type myagentRequest struct {
	Session string          `json:"session_id"`
	Step    string          `json:"step_id"`
	Content json.RawMessage `json:"content"`
	Signed  json.RawMessage `json:"signed_state"`
}

// A myagentTask is a task in a message of a MyAgent client.
type myagentTask struct {
	ID        json.RawMessage
	Title     string
	Objective string
}

func myagentTasks(list []myagentTask) []protocol.Task {
	var tasks []protocol.Task
	for _, t := range list {
		id := strings.Trim(string(t.ID), `"`)
		tasks = append(tasks, protocol.Task{ID: id, Title: t.Title, Description: t.Objective})
	}
	return tasks
}

func causeMyAgent(c *ClientConn, m Message) bool {
	var r myagentRequest
	_ = json.Unmarshal(protocol.MustEncode(m.Value), &r)
	var content struct {
		TaskID      json.RawMessage `json:"task_id"`
		Confirmed   bool
		Approved    bool
		Reason      string
		Question    string
		PlanSummary string `json:"plan_summary"`
		Tasks       []myagentTask
	}
	_ = json.Unmarshal(r.Content, &content)
	state := c.State(r.Session)
	if state == nil && c.Restored != "" {
		r.Session = c.Restored
		state = c.State(r.Session)
	}
	event, _, _ := strings.Cut(m.Type, "/")
	if event != "user.create_session" && event != "user.reconnect_with_state" && state == nil {
		return false // of a session that this client does not have
	}
	switch event {
	case "user.create_session":
		c.Subscribe("work")
		return c.Sent(m.Type) // else it waits for the greeting
	case "user.reconnect_with_state":
		if r.Signed == nil {
			return false
		}
		if c.commands == 1 && len(c.order) > 0 { // the session of the last connection
			c.Restored = c.order[0]
			c.Subscribe(c.Restored)
			return true
		}
		state := protocol.SignedState{Version: "myagent", State: r.Signed}
		c.Do(protocol.DoRestore, "", protocol.RestoreData{State: state})
	case "user.message":
		if state.Turn != nil {
			return false // the client keeps it in its queue
		}
		var text string
		_ = json.Unmarshal(r.Content, &text)
		c.Do(protocol.DoSend, r.Session, protocol.SendData{Text: text})
	case "user.solve_tasks":
		if len(content.Tasks) == 0 {
			return false
		}
		c.Do(protocol.DoPlanRun, r.Session, protocol.PlanRunData{
			Tasks: myagentTasks(content.Tasks), Question: content.Question, Summary: content.PlanSummary,
		})
	case "user.response":
		a := state.PendingApproval(r.Step)
		if a == nil {
			return c.Sent(m.Type) // sent with user.replan
		}
		d := protocol.ApproveData{Request: a.Request, Decision: protocol.Deny, Reason: content.Reason}
		if content.Confirmed || content.Approved {
			d.Decision = protocol.AllowOnce
		}
		if content.Tasks != nil {
			d.Input = &protocol.ApprovalInput{Tasks: myagentTasks(content.Tasks)}
		}
		c.Do(protocol.DoApprove, r.Session, d)
	case "user.replan":
		if len(state.Approvals) == 0 {
			return false
		}
		c.Do(protocol.DoApprove, r.Session, protocol.ApproveData{
			Request: state.Approvals[0].Request, Decision: protocol.Deny, Reason: content.Question + content.Reason,
			Input: &protocol.ApprovalInput{Replan: true},
		})
	case "user.cancel":
		c.Do(protocol.DoInterrupt, r.Session, protocol.InterruptData{})
	case "user.cancel_task":
		c.Do(protocol.DoTaskCancel, r.Session, protocol.TaskIDData{Task: string(content.TaskID)})
	case "user.restart_task":
		c.Do(protocol.DoTaskRestart, r.Session, protocol.TaskIDData{Task: string(content.TaskID)})
	case "user.request_state":
		if !c.Sent(m.Type) { // at the end of a turn the client requests it by itself
			c.Do(protocol.DoExport, r.Session, nil)
		}
	case "user.ack":
		c.Do(protocol.DoAck, r.Session, protocol.AckData{Seq: state.Seq})
		return c.Sent(m.Type) // only once for a seq
	default:
		return false
	}
	return true
}
