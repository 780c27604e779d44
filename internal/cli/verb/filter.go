package verb

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"agentctl/internal/exit"
	"agentctl/internal/output"
)

// addFilterFlags adds the flags that print values of the JSON of a verb.
func addFilterFlags(f *pflag.FlagSet) {
	f.String("jq", "", "print what the jq `EXPRESSION` makes of the JSON")
	f.String("template", "", "print each line of JSON by a Go `TEMPLATE`")
}

// ReadFilter reads the flags of addFilterFlags. They select JSON.
func (cli *Context) ReadFilter(cmd *cobra.Command) (err error) {
	expression, text := cmd.Flags().Lookup("jq"), cmd.Flags().Lookup("template")
	format := cmd.Flags().Lookup("output")
	switch {
	case !expression.Changed && !text.Changed:
		return nil
	case expression.Changed && text.Changed:
		return exit.Usagef("--jq and --template exclude each other")
	case format.Changed && cli.Flags.Output != FormatJSON:
		return exit.Usagef("--jq and --template print values of JSON: leave out --output text")
	}
	cli.Flags.Output = FormatJSON
	if expression.Changed {
		cli.Flags.Filter, err = output.NewQuery(expression.Value.String())
	} else {
		cli.Flags.Filter, err = output.NewTemplate(text.Value.String())
	}
	return err
}
