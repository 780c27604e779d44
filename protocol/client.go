package protocol

// Types of the events of clients. They are ephemeral: no seq, never stored, never replayed.
const (
	ClientAttached Type = "client.attached"
	ClientDetached Type = "client.detached"
	ClientLag      Type = "client.lag"
)

var clientEvents = []EventType{
	{Type: ClientAttached, New: of[Client], Ephemeral: true},
	{Type: ClientDetached, New: of[Client], Ephemeral: true},
	{Type: ClientLag, New: of[Client], Ephemeral: true},
}

// A Client is a subscriber of a session, the data of client.attached, client.detached and
// client.lag.
type Client struct {
	Client    string `json:"client"` // the connection's id
	By        Actor  `json:"by"`
	Agent     string `json:"agent,omitempty"` // the client program
	Acked     uint64 `json:"acked,omitempty"`
	LagEvents uint64 `json:"lag_events,omitempty"`
	LagBytes  int64  `json:"lag_bytes,omitempty"` // sent but not acknowledged
	Reason    string `json:"reason,omitempty"`    // of detached
	Message   string `json:"message,omitempty"`   // with a reason that is an error code: the error's text
}
