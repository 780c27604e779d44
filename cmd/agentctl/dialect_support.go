package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"agentctl/dialect"
	"agentctl/internal/exit"
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// verbCommands are the commands of the protocol that verbs send, by path. Other verbs send none, or
// work with every server.
var verbCommands = map[string]protocol.Verb{
	"new":           protocol.DoCreate,
	"run":           protocol.DoCreate,
	"up":            protocol.DoCreate,
	"ls":            protocol.DoList,
	"status":        protocol.DoSnapshot,
	"rename":        protocol.DoRename,
	"label":         protocol.DoLabel,
	"rm":            protocol.DoClose,
	"state export":  protocol.DoExport,
	"state restore": protocol.DoRestore,
	"import":        protocol.DoImport,
	"state key":     protocol.DoExport, // it sends none, and is of no use without
	"send":          protocol.DoSend,
	"wait":          protocol.DoSubscribe,
	"watch":         protocol.DoWatch,
	"interrupt":     protocol.DoInterrupt,
	"queue":         protocol.DoSnapshot,
	"queue edit":    protocol.DoQueueEdit,
	"queue rm":      protocol.DoQueueRemove,
	"queue mv":      protocol.DoQueueMove,
	"queue hold":    protocol.DoQueueHold,
	"queue release": protocol.DoQueueRelease,
	"approvals":     protocol.DoSnapshot,
	"approve":       protocol.DoApprove,
	"deny":          protocol.DoApprove,
	"explain":       protocol.DoApprove,
	"rules":         protocol.DoRulesList,
	"rules revoke":  protocol.DoRulesRevoke,
	"plan":          protocol.DoSnapshot,
	"plan run":      protocol.DoPlanRun,
	"task cancel":   protocol.DoTaskCancel,
	"task restart":  protocol.DoTaskRestart,
	"compact":       protocol.DoCompact,
	"undo":          protocol.DoUndo,
	"retry":         protocol.DoRetry,
	"fork":          protocol.DoFork,
	"events":        protocol.DoSubscribe,
	"history":       protocol.DoHistory,
	"search":        protocol.DoSubscribe,
	"export":        protocol.DoSubscribe,
	"blob":          protocol.DoBlob,
	"context":       protocol.DoContext,
	"options":       protocol.DoSnapshot,
	"set":           protocol.DoConfigure,
}

// flagFeatures are the features that flags need, by verb and flag. A flag with values has them
// after a =.
var flagFeatures = map[string]map[string]codec.Feature{
	"new": {
		"name": codec.CreateName, "title": codec.CreateTitle, "env": codec.CreateEnv, "cwd": codec.CreateCWD,
		"mode": codec.CreateSettings, "model": codec.CreateSettings, "option": codec.CreateSettings,
		"policy": codec.CreateSettings,
		"label":  codec.CreateLabels, "worktree": codec.CreateLabels, "load": codec.CreateLoad,
		"attach": codec.SendParts,
	},
	"run": {
		"env": codec.CreateEnv, "cwd": codec.CreateCWD, "mode": codec.CreateSettings, "model": codec.CreateSettings,
		"option": codec.CreateSettings, "policy": codec.CreateSettings, "attach": codec.SendParts,
	},
	"send": {
		"front": codec.SendFront, "attach": codec.SendParts, "at": codec.SendAt, "in": codec.SendAt,
	},
	"interrupt": {"queue=hold": codec.InterruptHold, "queue=clear": codec.InterruptClear},
	"approve":   {"always": codec.AllowAlways},
	"deny":      {"stop": codec.DenyStop},
}

// verbPath returns the path of a command without the program's name.
func verbPath(cmd *cobra.Command) string {
	_, path, _ := strings.Cut(cmd.CommandPath(), " ")
	return path
}

// unsupportedVerb returns an error if a dialect carries a verb at no server.
func unsupportedVerb(d *codec.Dialect, path string) error {
	switch path {
	case "mcp":
		return codec.Unsupported(d.Name, "serving its tools", "its sessions have no parents and no labels")
	case "agents":
		return codec.Unsupported(d.Name, "a list of agents", "its servers have no message for it")
	case "queue":
		if d.HidesQueue {
			return codec.Unsupported(d.Name, "showing the queue", "its servers do not show it")
		}
	case "explain":
		if err := d.UnsupportedFeature(codec.Explain, true); err != nil {
			return err
		}
	case "send", "plan run": // may wait
		return d.Unsupported(verbCommands[path], false)
	}
	if v := verbCommands[path]; v != "" {
		return d.Unsupported(v, true)
	}
	return nil
}

// unsupportedFlag returns an error if a dialect carries a flag, as in flagFeatures, at no server.
func unsupportedFlag(d *codec.Dialect, path, flag string, oneShot bool) error {
	return d.UnsupportedFeature(flagFeatures[path][flag], oneShot)
}

// checkSupport returns an error if the dialect carries the verb or one of its flags at no server.
func (a *app) checkSupport(cmd *cobra.Command, args []string) error {
	a.verb, a.session = verbPath(cmd), "SESSION"
	if len(args) > 0 {
		a.session = args[0]
	}
	d, ok := dialect.Find(a.flags.Dialect)
	if !ok || a.flags.Server == "" { // connect reports the missing server
		return nil
	}
	err := unsupportedVerb(&d, a.verb)
	oneShot := true
	for _, stay := range []string{"wait", "follow"} {
		if f := cmd.Flags().Lookup(stay); f != nil && f.Changed {
			oneShot = false
		}
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		for _, flag := range []string{f.Name, f.Name + "=" + f.Value.String()} {
			if err == nil && f.Value.String() != "false" {
				err = unsupportedFlag(&d, a.verb, flag, oneShot)
			}
		}
	})
	return err
}

// requireCommand returns an error if the dialect carries a command at no server. oneShot: for a
// client of one connection.
func (a *app) requireCommand(v protocol.Verb, oneShot bool) error {
	if d, ok := dialect.Find(a.flags.Dialect); ok && a.flags.Server != "" {
		return d.Unsupported(v, oneShot)
	}
	return nil
}

// peer returns what is known of the server, for hints.
func (a *app) peer() exit.Peer {
	p := exit.Peer{Dialect: a.flags.Dialect}
	if a.client != nil {
		p = peerOf(a.client)
	}
	return p
}
