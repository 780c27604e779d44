package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"agentctl/dialect"
	"agentctl/internal/config"
	"agentctl/internal/exit"
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// verbCommands are the commands of the protocol that verbs send, by path. Other verbs send none, or
// work with every server.
var verbCommands = map[string]protocol.Verb{
	"new":           protocol.DoCreate,
	"ls":            protocol.DoList,
	"status":        protocol.DoSnapshot,
	"rename":        protocol.DoRename,
	"rm":            protocol.DoClose,
	"state export":  protocol.DoExport,
	"state restore": protocol.DoRestore,
	"send":          protocol.DoSend,
	"wait":          protocol.DoSubscribe,
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
	"task cancel":   protocol.DoTaskCancel,
	"task restart":  protocol.DoTaskRestart,
	"compact":       protocol.DoCompact,
	"events":        protocol.DoSubscribe,
	"history":       protocol.DoHistory,
	"search":        protocol.DoSubscribe,
	"export":        protocol.DoSubscribe,
	"context":       protocol.DoContext,
}

// flagFeatures are the features that flags need, by verb and flag. A flag with values has them
// after a =.
var flagFeatures = map[string]map[string]codec.Feature{
	"new": {
		"name": codec.CreateName, "title": codec.CreateTitle, "env": codec.CreateEnv, "cwd": codec.CreateCWD,
	},
	"send":      {"front": codec.SendFront},
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
	case "agents":
		return codec.Unsupported(d.Name, "a list of agents", "its servers have no message for it")
	case "queue":
		if d.HidesQueue {
			return codec.Unsupported(d.Name, "showing the queue", "its servers do not show it")
		}
	case "explain":
		if reason, lacks := d.Lack(codec.Explain, true); lacks {
			return codec.Unsupported(d.Name, string(codec.Explain), reason)
		}
	case "send": // may wait
		return d.Unsupported(protocol.DoSend, false)
	}
	if v := verbCommands[path]; v != "" {
		return d.Unsupported(v, true)
	}
	return nil
}

// unsupportedFlag returns an error if a dialect carries a flag, as in flagFeatures, at no server.
func unsupportedFlag(d *codec.Dialect, path, flag string, oneShot bool) error {
	feature, ok := flagFeatures[path][flag]
	if !ok {
		return nil
	}
	if reason, lacks := d.Lack(feature, oneShot); lacks {
		return codec.Unsupported(d.Name, string(feature), reason)
	}
	return nil
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

// hideUnsupported removes the verbs and flags that a dialect carries at no server from help and
// completion.
func hideUnsupported(parent *cobra.Command, d *codec.Dialect) {
	for _, cmd := range parent.Commands() {
		path := verbPath(cmd)
		hideUnsupported(cmd, d)
		empty := cmd.HasSubCommands() && !cmd.HasAvailableSubCommands() && verbCommands[path] == ""
		if cmd.Hidden = cmd.Hidden || empty || unsupportedVerb(d, path) != nil; cmd.Hidden {
			continue
		}
		for flag := range flagFeatures[path] {
			if unsupportedFlag(d, path, flag, true) != nil && unsupportedFlag(d, path, flag, false) != nil {
				_ = cmd.Flags().MarkHidden(flag) // fails for a value of a flag, which help does not list
			}
		}
	}
}

// findDialect returns the dialect that flags in args, the environment or the configuration select,
// before the flags are parsed. ok is false for none.
func (a *app) findDialect(args []string) (_ codec.Dialect, ok bool) {
	name := flagValue(args, "dialect")
	if name == "" {
		name = a.env("AGENTCTL_DIALECT")
	}
	local := flagValue(args, "data") != ""
	if name == "" && flagValue(args, "server") == "" && a.env("AGENTCTL_SERVER") == "" && !local {
		if u, err := config.ReadUser(a.env); err == nil {
			name = u.Dialect
		}
	}
	return dialect.Find(name)
}

// flagValue returns the last value of a flag in arguments that are not parsed yet.
func flagValue(args []string, flag string) (value string) {
	for i, arg := range args {
		if arg == "--" {
			return value
		}
		if arg == "--"+flag && i+1 < len(args) {
			value = args[i+1]
		} else if v, ok := strings.CutPrefix(arg, "--"+flag+"="); ok {
			value = v
		}
	}
	return value
}

// peer returns what is known of the server, for hints.
func (a *app) peer() exit.Peer {
	p := exit.Peer{Dialect: a.flags.Dialect}
	if a.client != nil {
		p = peerOf(a.client)
	}
	return p
}
