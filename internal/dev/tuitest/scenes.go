package tuitest

import (
	"fmt"
	"time"

	"agentctl/protocol"
	"agentctl/tui/remote"
)

// Scenes holds recorded sessions by name.
var Scenes = map[string]func() *Journal{
	"cards":      toolCalls,
	"changes":    fileChanges,
	"pipeline":   planPipeline,
	"cut":        interruptedTurns,
	"transcript": conversation(nil, nil),
	"stream":     conversation(nil, nil),
	"queue": conversation(func(j *Journal) {
		j.QueueMessage(Ada, "m3", "Then write the release notes for everything since the last tag.")
		j.QueueMessage(Bob, "m4", "Push it\nand tell me.")
		j.AddBy(Bob, protocol.QueueHeld, protocol.Hold{ID: "h1", Reason: protocol.HoldUser, By: &Bob})
	}, nil),
	"steering":   steering,
	"sub-agents": subAgents,
	"long queue": conversation(func(j *Journal) {
		for i := range 20 {
			j.QueueMessage(Ada, fmt.Sprintf("m%d", 3+i), fmt.Sprintf("Message %d of many", i+1))
		}
		j.AddBy(Bob, protocol.QueueHeld, protocol.Hold{ID: "h1", Reason: protocol.HoldEdit, MessageID: "m12", By: &Bob})
	}, nil),
	"approval": conversation(func(j *Journal) {
		j.RequestApproval(CommandApproval())
		j.RequestApproval(protocol.Approval{Request: "r2", Kind: protocol.ApproveTool, Title: "Fetch a page"})
	}, nil),
	"command to edit": conversation(func(j *Journal) {
		a := CommandApproval()
		a.Editable = true
		j.RequestApproval(a)
	}, nil),
	"patch": conversation(func(j *Journal) {
		expires := Start.Add(time.Minute + 25*time.Second)
		j.RequestApproval(protocol.Approval{
			Request:  "r1",
			Kind:     protocol.ApprovePatch,
			Title:    "Change the limit",
			CWD:      "/home/ada/store",
			Why:      "Two was too few.",
			Editable: true,
			Patch: "--- a/store.go\n+++ b/store.go\n@@ -1,3 +1,3 @@\n" +
				" package store\n-const limit = 2\n+const limit = 20\n",
			Paths:   []string{"store.go"},
			Expires: &expires,
			Options: []protocol.Option{
				{ID: "once", Kind: protocol.AllowOnce, Label: "Apply"},
				{
					ID:    "always",
					Kind:  protocol.AllowAlways,
					Label: "Always",
					Scope: "every patch of exactly these files, in this session",
				},
			},
		})
	}, nil),
	"tasks to confirm": conversation(func(j *Journal) {
		j.RequestApproval(protocol.Approval{
			Request: "p1",
			Kind:    protocol.ApprovePlan,
			Title:   "Three tasks",
			Tasks: []protocol.Task{
				{ID: "a", Title: "Read", Description: "all of it"},
				{ID: "b", Title: "Write", After: []string{"a"}},
				{ID: "c", Title: "Build", After: []string{"a", "b"}},
			},
		})
	}, nil),
	"question": conversation(func(j *Journal) {
		j.RequestApproval(protocol.Approval{
			Request: "q1",
			Kind:    protocol.ApproveQuestion,
			Title:   "Two things to know",
			Questions: []protocol.Question{
				{
					ID:   "db",
					Text: "Which database?",
					Choices: []protocol.Choice{
						{ID: "pg", Label: "Postgres", About: "runs already"},
						{ID: "lite", Label: "SQLite"},
					},
				},
				{ID: "name", Text: "What is it called?"},
			},
			Options: []protocol.Option{
				{ID: "answer", Kind: protocol.AllowOnce, Label: "Answer"},
				{ID: "skip", Kind: protocol.Deny, Label: "Skip"},
			},
		})
	}, nil),
	"refused command": conversation(func(j *Journal) { // by the sandbox: no option allows it
		a := CommandApproval()
		a.Title, a.Command, a.Why = "Write the hosts", "echo 10.0.0.7 db | tee -a /etc/hosts", "The tests need the name."
		a.Refused = "the sandbox workspace does not change /etc/hosts"
		a.Options = []protocol.Option{
			{ID: "deny", Kind: protocol.Deny, Label: "Deny"},
			{ID: "stop", Kind: protocol.DenyStop, Label: "Deny and stop the turn"},
		}
		a.Asked = j.At
		j.Add(protocol.ApprovalRequested, a)
	}, nil),
	"form": conversation(func(j *Journal) { j.RequestApproval(FormApproval()) }, nil),
	"page": conversation(func(j *Journal) { j.RequestApproval(PageApproval()) }, nil),
	"settings": conversation(func(j *Journal) {
		j.Add(protocol.AgentOptions, protocol.Options{
			Name: "Gemini CLI", Version: "1.4.0", Features: []string{protocol.FeatureUndo, protocol.FeatureFork},
			Settings: []protocol.Setting{
				{ID: "mode", Name: "Mode", Value: "ask", Choices: []protocol.Choice{
					{
						ID:    "ask",
						Label: "Ask",
						About: "asks before every change",
					},
					{ID: "edit", Label: "Edit", About: "changes files without asking"},
					{
						ID:    "plan",
						About: "only reads, and makes a plan before anything else is done to the files of the project",
					},
				}},
				{
					ID:      "model",
					Name:    "Model",
					Value:   "small",
					Choices: []protocol.Choice{{ID: "small", Label: "Small 3"}, {ID: "large", Label: "Large 3\x1b[2J"}},
				},
				{ID: "effort", Value: "7"},
			},
			Commands: []protocol.SlashCommand{
				{Name: "plan", About: "make a plan first", Hint: "what for"},
				{Name: "/play", About: "play a game while the compiler runs, for as long as it runs and not longer"},
				{Name: "test", About: "run the tests"},
				{Name: "quit\x1b[2J"},
			},
		})
	}, nil),
	"rules": conversation(func(j *Journal) {
		verified := protocol.Actor{Name: "bob", Subject: "bob@example.org"}
		for _, r := range []protocol.Rule{
			{
				ID: "u1", Kind: protocol.ApproveCommand, Subject: `{"command":"go mod tidy","cwd":"/home/ada/store"}`,
				Scope: "exactly this command in /home/ada/store, in this session", By: Ada, At: Start,
			},
			{
				ID: "u2", Kind: protocol.ApproveTool, Subject: "fetch\x1b[8m", // of an earlier version
				Scope: "every use of the tool fetch\x1b[8m, in this session", By: verified,
				At: Start.Add(26 * time.Hour),
			},
			{
				ID: "u3", Kind: protocol.ApprovePatch,
				Subject: `{"files":["/home/ada/store/store.go","/home/ada/store/store_test.go"]}`,
				Scope:   "every patch of exactly these files, in this session", By: Ada, At: Start,
			},
		} {
			j.RequestApproval(protocol.Approval{Request: "r" + r.ID, Kind: r.Kind, Title: "May I?"})
			j.AddBy(r.By, protocol.ApprovalResolved, protocol.ApprovalResolvedData{
				Request:  "r" + r.ID,
				Outcome:  protocol.Allowed,
				Decision: protocol.AllowAlways,
				Rule:     &r,
			})
		}
	}, nil),
	"decided": conversation(func(j *Journal) {
		j.RequestApproval(CommandApproval())
	}, func(j *Journal) {
		j.AddBy(Bob, protocol.ApprovalResolved, protocol.ApprovalResolvedData{
			Request:  "r1",
			Outcome:  protocol.Denied,
			Decision: protocol.Deny,
			Reason:   "not on a Friday",
		})
	}),
	"reconnecting": conversation(nil, func(j *Journal) {
		j.Conn(remote.Conn{
			State:   remote.Reconnecting,
			Attempt: 3,
			Retry:   Start.Add(time.Minute + 4*time.Second),
			Reason:  "the connection was closed",
		})
	}),
	"offline": conversation(nil, func(j *Journal) {
		j.Conn(remote.Conn{
			State:  remote.Offline,
			Reason: "connect to wss://box.example.org: the token expired",
			Advice: "give a credential: --token or AGENTCTL_TOKEN",
		})
	}),
	"back": conversation(nil, func(j *Journal) {
		j.Conn(remote.Conn{State: remote.Reconnecting, Attempt: 1, Reason: "the connection was closed"})
		AddMissedEvents(j)
	}),
	"catching": conversation(nil, func(j *Journal) {
		j.Conn(remote.Conn{State: remote.Reconnecting, Attempt: 1, Reason: "the connection was closed"})
		j.Reconnect(protocol.ModeResume, 1000)
		for i := range 450 {
			j.Add(protocol.TextDelta, protocol.PartDeltaData{Part: "t3", Text: fmt.Sprintf(" word%d", i)})
		}
	}),
	"prose": func() *Journal {
		j := NewJournal()
		j.UserMessage(Ada, "m1", "What is **agentctl**?")
		j.Text("t1",
			"# agentctl\n\nIt is **tmux for AI agents**: an agent works on a *server*, "+
				"you attach with `agentctl attach`. See [the site](https://example.org/docs).\n\n",
			"- Nothing is lost.\n- Nothing waits:\n  1. detach\n  2. come back\n- [x] done\n\n",
			"```go\nfunc main() {\n\tfmt.Println(\"漢字\")\n}\n```\n\n"+
				"| word | meaning |\n|---|---|\n| turn | one message to its end |\n"+
				"| hold | keeps the queue from running |\n\n",
			"> Everybody sees the same.\n\n```diff\n-old\n+new\n```\n\nThe end is near, and `code",
		)
		j.CaughtUp()
		return j
	},
	"plan": conversation(func(j *Journal) {
		j.Add(protocol.PlanStarted, protocol.PlanStartedData{Question: "how to tidy"})
		j.Add(protocol.PlanUpdated, protocol.PlanTasksData{
			Tasks: []protocol.Task{
				{ID: "1", Title: "Read the imports", Status: protocol.StatusCompleted},
				{ID: "2", Title: "Drop what is unused", Status: protocol.StatusRunning},
				{ID: "3", Title: "Build"},
			},
		})
		j.Add(protocol.TaskFailed, protocol.TaskData{Task: "3", Title: "Build", Message: "no compiler"})
	}, nil),
	"hostile": func() *Journal {
		j := NewJournal()
		j.UserMessage(protocol.Actor{Name: "eve\x1b[2J"}, "m1", "\x1b]0;owned\x07hello\u202e")
		j.Text("t1", "a\x1b", "[31mred\x1b]52;c;", "aGk=\x07 b\u009b2Jc\r\nd")
		j.Add(protocol.ToolStarted, protocol.ToolStartedData{
			Tool: "c1", Name: "sh\x1b[31m", Title: "ls\x1b]8;;http://x\x07",
		})
		j.Add(protocol.ToolEnded, protocol.ToolEndedData{Tool: "c1", Status: "odd\x1b[1m", Error: "bad\x1b[5m"})
		j.QueueMessage(protocol.Actor{Name: "eve\x1b[2J"}, "m2", "\x1b[2Jtext")
		j.Add(protocol.AgentOptions, protocol.Options{
			Name: "x\x1b[2J",
			Settings: []protocol.Setting{
				{
					ID:      "\x1b[2Jmode",
					Value:   "\x1b[2Ja",
					Choices: []protocol.Choice{{ID: "\x1b[2Ja", Label: "\u202eA", About: "\x1b]0;owned\x07"}},
				},
			},
			Commands: []protocol.SlashCommand{{Name: "\x1b[2Jgo", About: "\u202e", Hint: "\x1b[5m"}},
		})
		j.RequestApproval(protocol.Approval{Request: "r0"})
		j.Add(protocol.ApprovalResolved, protocol.ApprovalResolvedData{
			Request: "r0",
			Rule: &protocol.Rule{
				ID:    "u1",
				Kind:  "\x1b[2J",
				Scope: "\x1b[2Jrm\u202e",
				By:    protocol.Actor{Name: "eve\x1b[2J", Subject: "\u009b2J"},
			},
		})
		j.Add(protocol.PlanUpdated, protocol.PlanTasksData{
			Tasks: []protocol.Task{{ID: "1", Title: "\x1b[2Jtask\u202e"}},
		})
		j.RequestApproval(protocol.Approval{
			Request: "r1\x1b[2J",
			Kind:    "command\x1b[2J",
			Title:   "ls\x1b[2J",
			Command: "ls\x1b[8m; rm -rf ~\u202e",
			Options: []protocol.Option{{ID: "a", Kind: protocol.AllowOnce, Label: "ok\x1b[2J", Scope: "\x1b[2J"}},
		})
		j.Add(protocol.ErrorRaised, protocol.ErrorData{Kind: "\x1b[2J", Code: "\x1b[2J", Message: "\x1b[2J"})
		j.CaughtUp()
		j.Conn(remote.Conn{State: remote.Offline, Reason: "\x1b[2J"})
		return j
	},
}

// conversation returns a scene: Conversation with more events, caught up, and later events. Both may be
// nil.
func conversation(more, later func(*Journal)) func() *Journal {
	return func() *Journal {
		j := Conversation()
		if more != nil {
			more(j)
		}
		j.CaughtUp()
		if later != nil {
			later(j)
		}
		return j
	}
}

// AddMissedEvents adds a reconnect, the events of the outage and the end of the catch-up.
func AddMissedEvents(j *Journal) {
	j.Reconnect(protocol.ModeResume, 14)
	j.RequestApproval(CommandApproval())
	j.AddBy(Bob, protocol.ApprovalResolved, protocol.ApprovalResolvedData{
		Request: "r1", Outcome: protocol.Allowed, Decision: protocol.AllowOnce,
	})
	j.Add(protocol.TextEnd, protocol.PartEndData{Part: "t3"})
	j.EndTurn(protocol.ReasonCompleted)
	j.UserMessage(Bob, "m3", "And the release notes?")
	j.Text("t4", "They are written.")
	j.Add(protocol.TextEnd, protocol.PartEndData{Part: "t4"})
	j.EndTurn(protocol.ReasonCompleted)
	j.CaughtUp()
}

// LongSession returns a session of n finished turns of three items each.
func LongSession(n int) *Journal {
	j := NewJournal()
	for i := range n {
		j.UserMessage(Ada, fmt.Sprintf("m%d", i), fmt.Sprintf("question %d", i))
		j.Text("t", fmt.Sprintf("answer %d", i))
		j.Add(protocol.TextEnd, protocol.PartEndData{Part: "t"})
		j.EndTurn(protocol.ReasonCompleted)
	}
	j.CaughtUp()
	return j
}

// MixedSession returns a session of n finished turns. Every tenth has a tool call, an approval and
// an error.
func MixedSession(n int) *Journal {
	j := NewJournal()
	for i := range n {
		j.UserMessage(Ada, fmt.Sprint("m", i), fmt.Sprint("question ", i))
		if i%10 == 0 {
			j.Add(protocol.ToolStarted, protocol.ToolStartedData{
				Tool: fmt.Sprint("c", i), Title: fmt.Sprint("call ", i),
			})
			j.Add(protocol.ToolEnded, protocol.ToolEndedData{Tool: fmt.Sprint("c", i), Status: protocol.ToolCompleted})
			j.RequestApproval(protocol.Approval{
				Request: fmt.Sprint("r", i),
				Kind:    protocol.ApproveCommand,
				Title:   fmt.Sprint("request ", i),
			})
			j.AddBy(Bob, protocol.ApprovalResolved, protocol.ApprovalResolvedData{
				Request: fmt.Sprint("r", i), Outcome: protocol.Denied,
			})
			j.Add(protocol.ErrorRaised, protocol.ErrorData{Message: fmt.Sprint("error ", i)})
		}
		j.Text("t", fmt.Sprint("answer ", i))
		j.EndTurn(protocol.ReasonCompleted)
	}
	j.CaughtUp()
	return j
}
