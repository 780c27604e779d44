package codec

import (
	"encoding/json"
	"time"

	"agentctl/protocol"
)

// A Dialect is one foreign protocol, both ends.
type Dialect struct {
	Name string

	// Server makes the codec of one connection at agentctl's server.
	Server func(ServerOptions) Codec

	// Client makes the codec of one connection at agentctl's client.
	Client func(ClientOptions) Codec

	// Responder is the responder of Client. It declares the commands that the client supports.
	Responder *Responder

	// Messages encodes finished turns as that system's history endpoint does, GET
	// /api/sessions/{id}/messages?after=: the messages after the one with the id after, or all.
	// Nil: the system has no such endpoint.
	Messages func(turns []*protocol.Turn, after string) json.RawMessage

	// TokenInQuery makes the client send its credential in ?token= as well as in the Authorization
	// header.
	TokenInQuery bool

	// HasLogin means that the system's servers log users in at POST /v1/auth/login.
	HasLogin bool

	// UnauthorizedStatus is the HTTP status of the server's answer to an upgrade without a valid
	// credential; 0: 401. If the dialect has the option UnauthorizedOption, the option's value
	// AcceptAndClose makes the server accept the upgrade and close the connection with 1008.
	UnauthorizedStatus int

	// DefaultPath is the path of that system's servers. The client uses it in a URL without a path.
	// Empty: the server's root.
	DefaultPath string

	// Options declares the keys of ServerOptions.Options and ClientOptions.Options.
	Options []Option

	// HidesQueue means that a server does not report its queue.
	HidesQueue bool

	// Ephemeral means that sessions, turns and approvals end with their connection, except at
	// agentctl's server. A one-shot client can only send and wait there.
	Ephemeral bool

	// SessionTerm is the system's term for the name of a session.
	SessionTerm string

	// Lacks are the features that the client end lacks.
	Lacks map[Feature]Lack

	// Retry is the client's reconnect policy. Zero: the native one.
	Retry RetryPolicy
}

// RetryPolicy limits attempts to reconnect. With the dialect's option "backoff" set to
// "exponential", each delay is twice the previous one.
type RetryPolicy struct {
	Attempts int // consecutive failures after which the client stops retrying; 0: no limit
	Delay    time.Duration
}

// ServerOptions describes a foreign client's connection to a server codec.
type ServerOptions struct {
	Path  string                      // of the URL, below the mount point
	By    protocol.Actor              // the client
	Role  protocol.Role               // of the client; the server checks it, a codec may refuse earlier
	ID    func(prefix string) string  // makes an id; deterministic in tests
	Agent func(foreign string) string // the agent of a foreign domain, agent or runtime id; "": the default

	AgentNames []string // the foreign names for which the configuration has an agent, sorted

	Options map[string]string                 // of the dialect, from the configuration
	Sign    func(message string) (hex string) // HMAC-SHA256 with the server's secret
	Version string                            // of the server
	Resume  *ResumeStore                      // shared by the dialect's connections; nil: none
}

// ClientOptions describes agentctl's connection to a client codec.
type ClientOptions struct {
	URL     string
	Name    string                     // of the user
	ID      func(prefix string) string // makes an id; deterministic in tests
	Options map[string]string          // of the dialect
	Resume  *ClientState               // shared by the client's connections; not nil

	// PeerIsAgentctl means that the server is agentctl, by the headers of its HTTP answer.
	PeerIsAgentctl bool

	// OneShot means that the client disconnects after one or two commands, so that state kept in
	// the codec is lost.
	OneShot bool
}

// A server's option for clients without a valid credential.
const (
	UnauthorizedOption = "unauthorized"
	AcceptAndClose     = "1008"
)

// An End is one of a dialect's two ends.
type End string

// The ends.
const (
	ClientEnd End = "client" // agentctl's client, at a foreign server
	ServerEnd End = "server" // agentctl's server, for foreign clients
)

// An Option is a setting of a dialect. Values are text.
type Option struct {
	Name   string
	Ends   []End      // that have it
	Values []string   // accepted values, the default first; nil: any of Kind
	Kind   OptionKind // if Values is nil
	About  string     // one line of help
}

// An OptionKind is the type of an option's values.
type OptionKind int

// Kinds of options.
const (
	OptionText     OptionKind = iota // any text except the empty one
	OptionDuration                   // a Go duration, not negative
)
