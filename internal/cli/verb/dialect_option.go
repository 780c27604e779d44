package verb

import (
	"slices"

	"github.com/spf13/cobra"

	"agentctl/dialect"
	"agentctl/internal/config"
	"agentctl/internal/exit"
	"agentctl/protocol/codec"
)

// DialectOptions parses and checks --dialect-option.
func (g *Flags) DialectOptions() (map[string]string, error) {
	if len(g.Options) == 0 {
		return nil, nil
	}
	if g.Dialect == "" {
		return nil, exit.Usagef("--dialect-option needs --dialect")
	}
	options := map[string]string{}
	for _, s := range g.Options {
		name, value, err := ParsePair("--dialect-option", s)
		if err != nil {
			return nil, err
		}
		if err := config.CheckDialectOption(g.Dialect, codec.ClientEnd, name, value); err != nil {
			return nil, err
		}
		options[name] = value
	}
	return options, nil
}

// completeDialectOption completes the options of the dialect that --dialect names, and their
// values.
func (cli *Context) completeDialectOption(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	cli.Flags.Options = nil // still incomplete
	if cli.ReadEnvironment() != nil {
		return nil, NoFiles
	}
	d, _ := dialect.Find(cli.Flags.Dialect)
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
	return found, NoFiles | cobra.ShellCompDirectiveNoSpace
}
