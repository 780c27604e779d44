// Package codec is the base of the codecs of foreign protocols. At agentctl's client, ClientBase
// answers native commands as a server would, and Log is a session as the client sees it: numbered
// events, the state they reduce to, and subscriptions from any position still known. At agentctl's
// server, ServerBase sends native commands and pairs their answers, and Subscription is a session
// that a codec follows.
//
// The package has no goroutine, clock or I/O, and knows no dialect. A codec is bytes and time in,
// bytes out. Some codecs also keep state over connections: ClientState at the client, ResumeStore
// at the server. The host of the codecs owns both.
package codec
