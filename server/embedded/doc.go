// Package embedded runs a whole server in this process: sessions, a store, every dialect, over connections in memory. No network, no
// other process, nothing left behind. The tour runs on it; so can anybody's tests.
//
//	s, err := embedded.Start(ctx, embedded.Options{Agents: agents, DefaultAgent: "mine"})
//	defer s.Close()
//	c := wsclient.New(url, wsclient.Options{Dialect: "effectiveagent", Dial: s.Dialer(url)})
//
// The URL decides: one of the server's own means this process, any other is dialled over the network, and what uses the client is
// the same.
//
// It owns the store's directory if it made it, and the server's life. It must not know clients or screens.
package embedded
