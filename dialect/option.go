package dialect

import (
	"slices"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// CheckOption returns an invalid_message error if a dialect has no option of that name at an end,
// or the option does not accept the value.
func CheckOption(d *codec.Dialect, end codec.End, name, value string) error {
	var known []string
	for i := range d.Options {
		o := &d.Options[i]
		if !slices.Contains(o.Ends, end) {
			continue
		}
		known = append(known, o.Name+" ("+optionValues(o)+")")
		if o.Name == name {
			return checkValue(o, value)
		}
	}
	if known == nil {
		return protocol.Errorf(protocol.CodeInvalidMessage, "the dialect %s has no %s options", d.Name, end)
	}
	return protocol.Errorf(
		protocol.CodeInvalidMessage, "the dialect %s has no %s option %q: want one of %s", d.Name, end, name,
		strings.Join(known, ", "),
	)
}

func checkValue(o *codec.Option, value string) error {
	switch {
	case o.Values != nil && !slices.Contains(o.Values, value), o.Values == nil && value == "":
	case o.Kind == codec.OptionDuration:
		if d, err := time.ParseDuration(value); err == nil && d >= 0 {
			return nil
		}
	default:
		return nil
	}
	return protocol.Errorf(
		protocol.CodeInvalidMessage, "invalid value %q for option %s: want %s", value, o.Name, optionValues(o),
	)
}

// optionValues describes the values that an option accepts.
func optionValues(o *codec.Option) string {
	switch {
	case o.Values != nil:
		return strings.Join(o.Values, "|")
	case o.Kind == codec.OptionDuration:
		return "a duration such as 30s"
	}
	return "text"
}
