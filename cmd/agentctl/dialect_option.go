package main

import (
	"slices"

	"github.com/spf13/cobra"

	"agentctl/dialect"
	"agentctl/internal/config"
	"agentctl/internal/exit"
	"agentctl/protocol/codec"
)

// dialectOptions parses and checks --dialect-option.
func (a *app) dialectOptions() (map[string]string, error) {
	if len(a.flags.Options) == 0 {
		return nil, nil
	}
	if a.flags.Dialect == "" {
		return nil, exit.Usagef("--dialect-option needs --dialect")
	}
	options := map[string]string{}
	for _, s := range a.flags.Options {
		name, value, err := parsePair("--dialect-option", s)
		if err != nil {
			return nil, err
		}
		if err := config.CheckDialectOption(a.flags.Dialect, codec.ClientEnd, name, value); err != nil {
			return nil, err
		}
		options[name] = value
	}
	return options, nil
}

// completeDialectOption completes the options of the dialect that --dialect names, and their
// values.
func (a *app) completeDialectOption(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	a.flags.Options = nil // still incomplete
	if a.readEnvironment() != nil {
		return nil, noFiles
	}
	d, _ := dialect.Find(a.flags.Dialect)
	var found []cobra.Completion
	for _, o := range d.Options {
		if !slices.Contains(o.Ends, codec.ClientEnd) {
			continue
		}
		for _, v := range o.Values {
			found = append(found, cobra.CompletionWithDesc(o.Name+"="+v, o.About))
		}
		if o.Values == nil {
			found = append(found, cobra.CompletionWithDesc(o.Name+"=", o.About))
		}
	}
	return found, noFiles | cobra.ShellCompDirectiveNoSpace
}
