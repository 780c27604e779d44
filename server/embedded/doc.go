// Package embedded runs a complete server in this process: sessions, a store and every dialect, on
// connections in memory. It uses no network, starts no process and leaves no files. The tour and
// tests use it.
//
//	s, err := embedded.Start(ctx, embedded.Options{Agents: agents, DefaultAgent: "mine"})
//	defer s.Close()
//	c := wsclient.New(url, wsclient.Options{Dialect: "effectiveagent", Dial: s.Dialer(url)})
//
// The URL selects the server: a URL of the embedded server connects in memory, any other over the
// network. The code that uses the client is the same.
//
// It owns the server, and the store's directory if it made it. It must not know clients or screens.
package embedded
