package codec

import "agentctl/protocol"

// A Feature is a part of a command that a dialect may lack while it supports the command. The value
// names it in errors.
type Feature string

// The features.
const (
	SendFront      Feature = "sending ahead of the queue"
	SendAt         Feature = "sending at a time"
	SendSteer      Feature = "delivery in the current turn"
	SendParts      Feature = "files in a message"
	InterruptHold  Feature = "an interrupt that holds the queue"
	InterruptClear Feature = "an interrupt that clears the queue"
	AllowAlways    Feature = "an approval for all later requests"
	DenyStop       Feature = "a denial that ends the turn"
	Explain        Feature = "explanations of requests"
	CreateName     Feature = "names of new sessions"
	CreateTitle    Feature = "titles of new sessions"
	CreateEnv      Feature = "an environment of the agent"
	CreateCWD      Feature = "a working directory of the agent"
	CreateLabels   Feature = "labels of new sessions"
	CreateSettings Feature = "settings of new sessions"
	CreateSandbox  Feature = "a sandbox of new sessions"
	CreateLoad     Feature = "sessions that the agent has stored"
)

// A Lack states why the client end lacks a feature at every server.
type Lack struct {
	Reason  string // a clause for users
	OneShot bool   // only a client with ClientOptions.OneShot lacks it
}

// UnsupportedFeature returns the error of a feature that the client end lacks, or nil. oneShot is
// ClientOptions.OneShot.
func (d *Dialect) UnsupportedFeature(f Feature, oneShot bool) error {
	if l, ok := d.Lacks[f]; ok && (oneShot || !l.OneShot) {
		return Unsupported(d.Name, string(f), l.Reason)
	}
	return nil
}

// Unsupported returns the error of a command that the client end supports at no server, or nil.
// oneShot is ClientOptions.OneShot.
func (d *Dialect) Unsupported(v protocol.Verb, oneShot bool) error {
	r := *d.Responder
	if r.OneShot = oneShot; r.supports(v) {
		return nil
	}
	return r.Unsupported(string(v))
}
