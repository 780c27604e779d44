package main

import (
	"context"

	"github.com/spf13/cobra"
)

// Groups of verbs in the help.
const (
	groupStart   = "start"
	groupSession = "session"
	groupSteer   = "steer"
	groupRead    = "read"
	groupServer  = "server"
)

// A verb is an entry of the table of verbs.
type verb struct {
	name  string // first word of its Use
	group string
	build func(*app) *cobra.Command
}

// verbs returns the table of verbs.
func verbs() []verb {
	return []verb{
		{"tour", groupStart, with(newTour, runTour)},
		{"attach", groupStart, with(newAttach, runAttach)},
		{"new", groupStart, with(newNew, runNew)},
		{"run", groupStart, with(newRun, runRun)},
		{"up", groupStart, with(newUp, runUp)},
		{"ls", groupSession, with(newList, runList)},
		{"watch", groupSession, with(newWatch, runWatch)},
		{"status", groupSession, with(newStatus, runStatus)},
		{"rename", groupSession, with(newRename, runRename)},
		{"label", groupSession, with(newLabel, runLabel)},
		{"fork", groupSession, with(newFork, runFork)},
		{"rm", groupSession, with(newRemove, runRemove)},
		{"state", groupSession, newState},
		{"import", groupSession, with(newImport, runImport)},
		{"send", groupSteer, with(newSend, runSend)},
		{"wait", groupSteer, with(newWait, runWait)},
		{"interrupt", groupSteer, with(newInterrupt, runInterrupt)},
		{"queue", groupSteer, newQueue},
		{"approvals", groupSteer, with(newApprovals, runApprovals)},
		{"approve", groupSteer, with(newApprove, runDecision)},
		{"deny", groupSteer, with(newDeny, runDecision)},
		{"explain", groupSteer, with(newExplain, runDecision)},
		{"rules", groupSteer, newRules},
		{"plan", groupSteer, newPlan},
		{"task", groupSteer, newTask},
		{"compact", groupSteer, with(newCompact, runCompact)},
		{"undo", groupSteer, with(newUndo, runUndo)},
		{"retry", groupSteer, with(newRetry, runRetry)},
		{"set", groupSteer, with(newSet, runSet)},
		{"events", groupRead, with(newEvents, runEvents)},
		{"history", groupRead, with(newHistory, runHistory)},
		{"search", groupRead, with(newSearch, runSearch)},
		{"export", groupRead, with(newExport, runExport)},
		{"blob", groupRead, with(newBlob, runBlob)},
		{"context", groupRead, with(newContext, runContext)},
		{"options", groupRead, with(newAgentOptions, runAgentOptions)},
		{"serve", groupServer, with(newServe, runServe)},
		{"stop", groupServer, with(newStop, runStop)},
		{"logs", groupServer, with(newLogs, runLogs)},
		{"connect", groupServer, with(newConnect, runConnect)},
		{"backup", groupServer, with(newBackup, runBackup)},
		{"restore", groupServer, with(newRestore, runRestore)},
		{"check", groupServer, with(newCheck, runCheck)},
		{"repair", groupServer, with(newRepair, runRepair)},
		{"agents", groupServer, func(a *app) *cobra.Command {
			return newAgents(a, runAgents, runAgentLogin, runAgentSessions)
		}},
		{"doctor", groupServer, with(newDoctor, runDoctor)},
		{"login", groupServer, with(newLogin, runLogin)},
		{"token", groupServer, func(a *app) *cobra.Command { return newToken(a, runToken, runTokenUser) }},
		{"mcp", groupServer, with(newMCP, runMCP)},
		{"skill", groupServer, with(newSkill, runSkill)},
		{"keys", groupServer, with(newKeys, runKeys)},
		{"version", groupServer, with(newVersion, runVersion)},
	}
}

// with returns the build of a verb that runs run.
func with[O any](
	build func(*app, func(context.Context, *O) error) *cobra.Command, run func(context.Context, *O) error,
) func(*app) *cobra.Command {
	return func(a *app) *cobra.Command { return build(a, run) }
}

// addVerbs adds the wanted verbs to root.
func addVerbs(root *cobra.Command, a *app, wanted func(name string) bool) {
	for _, v := range verbs() {
		if wanted(v.name) {
			cmd := v.build(a)
			cmd.GroupID = v.group
			root.AddCommand(cmd)
		}
	}
}
