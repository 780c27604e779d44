package protocol

// Version is the version of the native protocol, the suffix of its WebSocket subprotocol.
const Version = "v1"

// Subprotocol is the WebSocket subprotocol of the native protocol.
const Subprotocol = "agentctl." + Version

// ProtocolHeader is the HTTP header in which an agentctl server names the protocol of a path:
// Subprotocol, or the name of a dialect.
const ProtocolHeader = "Agentctl-Speaks"

// Path is the URL path of the native protocol.
const Path = "/v1/ws"
