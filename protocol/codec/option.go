package codec

import (
	"slices"
	"strings"
	"time"

	"agentctl/protocol"
)

// An End is one of the two ends at which a codec stands.
type End string

// The ends.
const (
	ClientEnd End = "client" // ours, at their servers
	ServerEnd End = "server" // ours, for their clients
)

// Kinds of values of a Option that has no list of them.
const (
	OptionText     = "text"
	OptionDuration = "a duration, as 30s"
)

// A Option is one of a dialect's own settings. Its value is text.
type Option struct {
	Name   string
	Ends   []End    // that have it
	Values []string // that it may have, the default first; nil: those of Kind
	Kind   string
	About  string // for people, in a few words
}

// Takes says for people what values there are.
func (o *Option) Takes() string {
	if o.Values != nil {
		return strings.Join(o.Values, "|")
	}
	return o.Kind
}

// CheckOption returns why an option cannot have a value at one of the dialect's ends, or nil. The error is for whoever set it.
func (d *Dialect) CheckOption(end End, name, value string) error {
	var has []string
	for i := range d.Options {
		o := &d.Options[i]
		if !slices.Contains(o.Ends, end) {
			continue
		}
		has = append(has, o.Name+" ("+o.Takes()+")")
		if o.Name == name {
			return o.check(value)
		}
	}
	if has == nil {
		return protocol.Errorf(protocol.CodeInvalidMessage, "the dialect %s has no options at the %s", d.Name, end)
	}
	return protocol.Errorf(protocol.CodeInvalidMessage, "the dialect %s has no option %q at the %s: there are %s", d.Name, name, end, strings.Join(has, ", "))
}

func (o *Option) check(value string) error {
	switch {
	case o.Values != nil && !slices.Contains(o.Values, value), o.Values == nil && value == "":
	case o.Kind == OptionDuration:
		if d, err := time.ParseDuration(value); err == nil && d >= 0 {
			return nil
		}
	default:
		return nil
	}
	return protocol.Errorf(protocol.CodeInvalidMessage, "the option %s is %s, not %q", o.Name, o.Takes(), value)
}
