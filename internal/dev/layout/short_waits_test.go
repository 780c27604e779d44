package layout

// shortWaits are functions of tests with short waits, and why load cannot make them fail.
var shortWaits = map[string]string{
	"cmd/agentctl.repeat":              "polls, for scriptTimeout",
	"internal/dev/crash.pause":         "the time before a kill: any is right",
	"internal/dev/e2e.Commit":          "a store that hubs in bubbles call",
	"internal/dev/e2e.pump":            "goroutines of a proxy in bubbles",
	"internal/dev/e2e.readPID":         "polls, for a minute",
	"internal/dev/e2e.waitExit":        "polls, for a minute",
	"internal/dev/soak.cut":            "the time before a connection is cut: any is right",
	"internal/dev/soak.wait":           "the pace of the load",
	"internal/dev/soak.waitUnlessCalm": "the pace of the load",
	"internal/localserver/instance.TestEnsureRunningEndsWithTheTimeout": "the time shall run out",
	"internal/ssh.TestAConnectionCarriesBytesBothWays":                  "a deadline in the past",
	"internal/ssh.waitListening":                                        "polls, for two minutes",
	"server.TestTheOldestConnectionOfUnknownSendersIsClosed":            "a closed pipe says so whatever the time",
	"server.attack":             "the patience of an attacker: it demands nothing",
	"server.line":               "testTimeout, or longer",
	"server/agent/acp.play":     "called in bubbles",
	"server/agent/acp.waitGone": "polls, for a minute",
	"server/agent/mcp.TestUsersDeclineWhatAServerAsks":          "an answer later than the time of a call, which stands still",
	"server/agent/pipeline.run":                                 "called in bubbles",
	"server/agent/pipeline.wait":                                "called in bubbles",
	"server/agent/process.TestOutputWaitsForASlowReader":        "a reader is slow: nothing has to happen before",
	"server/agent/process.waitGone":                             "polls, for a minute",
	"server/agent/tool.waitGone":                                "polls, for a minute",
	"server/hook.TestAReceiverThatWasDownGetsEverythingInOrder": "a function that a bubble calls",
	"server/session.Commit":                                     "a store that hubs in bubbles call",
	"server/session.Run":                                        "an agent that hubs in bubbles run",
	"server/session.waitIdle":                                   "called in bubbles",
	"server/sqlite.commitUntilError":                            "polls, for a minute",
	"tui.demo":                                                  "no test: a program for people",
	"tui.write":                                                 "called in bubbles",
}

// shortScriptWaits are lines of scripts with short waits, and why load cannot make them fail.
var shortScriptWaits = map[string]string{
	"exits 2 agentctl --timeout 5s stop -o json":                                   "wrong usage, whatever the time",
	"exits 3 agentctl logs --follow --timeout 300ms":                               "the time shall run out",
	"exits 3 agentctl new --agent acp:fake-acp --env FAKEACP=mute --timeout 500ms": "the time shall run out",
	"exits 3 sh -c 'agentctl plan run fix - --timeout 100ms <>held'":               "the time shall run out",
	"exits 3 sh -c 'agentctl approve fix --input - --timeout 100ms <>held'":        "the time shall run out",
	"exits 3 sh -c 'agentctl up - --timeout 100ms <>held'":                         "the time shall run out",
	"! agentctl stop --when-idle --timeout 200ms":                                  "the time shall run out: a turn of 160 s runs",
	"exits 3 agentctl run --agent script:one.script --timeout 1s slow":             "the time shall run out",
	"exits 3 agentctl wait fix --for idle --timeout 50ms":                          "the time shall run out: a turn of 160 s runs",
	"exits 3 agentctl send fix slow --wait --timeout 50ms -o json":                 "the time shall run out",
	"until 0 sh -c 'agentctl send fix slow --wait --timeout 2s 2>late; test $? = 3 && " +
		"grep -q ''the turn continues; agentctl wait fix --message m_'' late'": "repeated until it runs out after the message was accepted",
}
