package codec

import "agentctl/protocol"

// A Feature is a part of a command that a dialect may lack while it supports the command. The value
// names it in errors.
type Feature string

// The features.
const (
	SendFront      Feature = "sending ahead of the queue"
	InterruptHold  Feature = "an interrupt that holds the queue"
	InterruptClear Feature = "an interrupt that clears the queue"
	AllowAlways    Feature = "an approval for all later requests"
	DenyStop       Feature = "a denial that ends the turn"
	Explain        Feature = "explanations of requests"
	CreateName     Feature = "names of new sessions"
	CreateTitle    Feature = "titles of new sessions"
	CreateEnv      Feature = "an environment of the agent"
	CreateCWD      Feature = "a working directory of the agent"
)

// Lack returns the reason why the client end lacks a feature at every server, or ok false if it may
// have it. oneShot is that of ClientOptions.
func (d *Dialect) Lack(f Feature, oneShot bool) (reason string, ok bool) {
	if reason, ok = d.Lacks[f]; !ok && oneShot {
		reason, ok = d.OneShotLacks[f]
	}
	return reason, ok
}

// Unsupported returns the error of a command that the client end supports at no server, or nil.
// oneShot is that of ClientOptions.
func (d *Dialect) Unsupported(v protocol.Verb, oneShot bool) error {
	r := *d.Responder
	if r.OneShot = oneShot; r.supports(v) {
		return nil
	}
	return r.Unsupported(string(v))
}
