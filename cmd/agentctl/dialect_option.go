package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"agentctl/dialect"
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// dialectOptions reads what --dialect-option says of the dialect that is spoken.
func (a *app) dialectOptions() (map[string]string, error) {
	if len(a.flags.Options) == 0 {
		return nil, nil
	}
	if a.flags.Dialect == "" {
		return nil, usagef("--dialect-option is about the dialect that --dialect names")
	}
	options := map[string]string{}
	for _, s := range a.flags.Options {
		name, value, ok := strings.Cut(s, "=")
		if !ok || name == "" {
			return nil, usagef("--dialect-option is K=V, not %q", s)
		}
		if err := checkOption(a.flags.Dialect, codec.ClientEnd, name, value); err != nil {
			return nil, err
		}
		options[name] = value
	}
	return options, nil
}

// checkOption tells whether a dialect has an option at one of its ends, and what it may be.
func checkOption(name string, end codec.End, option, value string) error {
	d, ok := dialect.Find(name)
	if !ok {
		return checkDialect(name)
	}
	if err := d.CheckOption(end, option, value); err != nil {
		return usagef("%s", protocol.AsError(err).Message)
	}
	return nil
}

// completeOption completes the options of the dialect that is spoken, and their values.
func (a *app) completeOption(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	a.flags.Options = nil // not said yet
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
